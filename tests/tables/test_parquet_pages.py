"""Page headers of Parquet files are what the footer, and Arrow, say of honest files."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from candgen.tables.parquet_pages import PageError, _read_page, read_chunks, read_pages


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "zstd"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_pages_of_a_file_that_arrow_wrote(version, compression, dictionary):
    table = pa.table(
        {
            "text": [f"name {n % 97}" for n in range(5000)],
            "list": [[str(m) for m in range(n % 4)] for n in range(5000)],
            "number": list(range(5000)),
        }
    )
    data = io.BytesIO()
    pq.write_table(
        table,
        data,
        compression=compression,
        use_dictionary=dictionary,
        row_group_size=2000,
        data_page_size=1000,
        data_page_version=version,
        write_page_index=True,
    )
    metadata = pq.read_metadata(data)
    groups = list(read_chunks(data, range(metadata.num_columns)))
    assert len(groups) == metadata.num_row_groups == 3
    for group, chunks in enumerate(groups):
        for place, chunk in enumerate(chunks):
            column = metadata.row_group(group).column(place)
            assert chunk.values == column.num_values
            assert chunk.is_text == (column.physical_type == "BYTE_ARRAY")
            pages = list(read_pages(data, chunk))
            assert sum(page.values for page in pages if not page.is_dictionary) == chunk.values
            assert [page.is_dictionary for page in pages].count(True) == dictionary
            headers = 200 * len(pages)
            unpacked = sum(page.unpacked for page in pages)
            assert 0 <= column.total_uncompressed_size - unpacked < headers
            packed = sum(page.packed for page in pages)
            assert 0 <= column.total_compressed_size - packed < headers


def footer(data):
    return b"PAR1" + data + len(data).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no footer"),
        (b"PAR1", "no footer"),
        (footer(b"")[:-8] + b"\xff\xff\xff\xffPAR1", "no footer"),
        (footer(b"\x15"), "cut short"),
        (footer(b"\x45\x02\0"), "no row groups"),
        (footer(b"\x49\x15\x02\0"), "no row groups"),
        (footer(b"\x49\x1c\0\0"), "lacks a column"),
        (footer(b"\x49\x1c\x19\x1c\0\0\0"), "encrypted"),
        (footer(b"\x49\x1c\x19\x1c\x3c\0\x5c\0\0\0\0"), "encrypted"),
        (footer(b"\x49\x1c\x19\x1c\x3c\0\0\0\0"), "lacks its number of values"),
    ],
)
def test_footers_that_are_not_footers(data, said):
    with pytest.raises(PageError, match=said):
        list(read_chunks(io.BytesIO(data), [0]))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "cut short"),
        (b"\x15", "cut short"),
        (b"\x15\x80\x80", "cut short"),
        (b"\0", "lacks its type or size"),
        (b"\x15\0\x15\x01\x15\0\0", "negative size"),
        (b"\x15\0\x15\x02\x15\x02\0", "lacks its number of values"),
        (b"\x15\0\x15\x02\x15\x02\x2c\x15\x01\0\0", "lacks its number of values"),
        (b"\x1c" * 100, "nested too deep"),
        (b"\x19" * 5000, "nested too deep"),
        (b"\x15" + b"\xff" * 20, "beyond 64 bits"),
        (b"\x1d\0", "a field of the type 13"),
    ],
)
def test_headers_that_are_not_headers(data, said):
    with pytest.raises(PageError, match=said):
        _read_page(io.BytesIO(data), 0)
