"""Prefetching: ask for memory before it is needed, so that reading it later does not wait."""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic
def prefetch(typingctx, array, place):  # noqa: ARG001 (Numba passes the context by its name)
    """Ask for the cache line of an element of an array; nothing is read, and no place is wrong."""
    signature = types.void(array, place)

    def generate(context, builder, signature, arguments):
        kind = signature.args[0]
        data = context.make_array(kind)(context, builder, arguments[0]).data
        at = context.cast(builder, arguments[1], signature.args[1], types.intp)
        address = builder.bitcast(builder.gep(data, [at]), cgutils.voidptr_t)
        number = ir.IntType(32)
        hint = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, hint, "llvm.prefetch.p0i8")
        # To read, to be kept in all caches, data rather than instructions.
        builder.call(function, [address, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return signature, generate
