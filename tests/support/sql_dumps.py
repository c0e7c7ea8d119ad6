"""Dumps of tables of a wiki's database, as mysqldump writes them."""

PAGE_PROPS = b"""-- MySQL dump 10.19  Distrib 10.3.38-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: 10.0.0.1    Database: fowiki
-- ------------------------------------------------------

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40103 SET TIME_ZONE='+00:00' */;

--
-- Table structure for table `page_props`; it's (only) a comment
--

DROP TABLE IF EXISTS `page_props`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
CREATE TABLE `page_props` (
  `pp_page` int(10) unsigned NOT NULL DEFAULT 0,
  `pp_propname` varbinary(60) NOT NULL DEFAULT '',
  `pp_value` blob NOT NULL COMMENT 'a; b, (c), it''s \\'d\\'',
  `pp_sortkey` float DEFAULT NULL,
  PRIMARY KEY (`pp_page`,`pp_propname`),
  UNIQUE KEY `pp_propname_page` (`pp_propname`,`pp_page`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
/*!40101 SET character_set_client = @saved_cs_client */;

LOCK TABLES `page_props` WRITE;
/*!40000 ALTER TABLE `page_props` DISABLE KEYS */;
INSERT INTO `page_props` VALUES (1,'wikibase_item','Q4628',NULL),\
(1,'defaultsort','a),(b);',-1.5),(2,'wikibase_item','q1',NULL);
INSERT INTO `page_props` VALUES
(3,'wikibase_item','Q0',1e20),
(4,'wikibase_item','Q10704',0),
(5,'wikibase_item',NULL,0);
/*!40000 ALTER TABLE `page_props` ENABLE KEYS */;
UNLOCK TABLES;
-- Dump completed on 2023-05-02 10:00:00
"""
ENTITIES = [{"id": 1, "entity": "Q4628"}, {"id": 4, "entity": "Q10704"}]

REDIRECT = b"""CREATE TABLE `redirect` (
  `rd_from` int(8) unsigned NOT NULL DEFAULT 0,
  `rd_namespace` int(11) NOT NULL DEFAULT 0,
  `rd_title` varbinary(255) NOT NULL DEFAULT '',
  `rd_interwiki` varbinary(32) DEFAULT NULL,
  `rd_fragment` varbinary(255) DEFAULT NULL,
  PRIMARY KEY (`rd_from`)
) ENGINE=InnoDB;
INSERT INTO `redirect` VALUES (10,0,'F\xc3\xb8royar','',''),(11,-1,'O\\'Neill_(x)',NULL,'S'),\
(12,0,'Main','de',NULL),(13,0,'\xff',NULL,NULL),(14,14,'A\\\\B',NULL,NULL);
"""

LANGLINKS = b"""CREATE TABLE `langlinks` (
  `ll_from` int(8) unsigned NOT NULL, `ll_lang` varbinary(35), `ll_title` varbinary(255));
INSERT INTO `langlinks` VALUES (1,'is','F\xc3\xa6reyjar'),(1,'da','F\xc3\xa6r\xc3\xb8erne'),\
(2,'is','A_b c'),(3,'is',''),(4,'ISO','x');
"""
