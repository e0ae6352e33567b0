"""The public C headers: c_api.h, simple_api.h."""

from __future__ import annotations

from abi_generator.documentation import doc_comment
from abi_generator.signatures import c_parameter_text, spelling_declaration
from abi_generator.sources import NOTE
from abi_generator.table import Function, by_family

C_API_HEAD = """\
/* {note} */
/* The canonical C ABI of simple_torch, C99. Each function returns a status; types.h describes the conventions. */
#ifndef SIMPLE_TORCH_C_API_H_
#define SIMPLE_TORCH_C_API_H_

#include "simple_torch/library.h"
#include "simple_torch/types.h"

#ifdef __cplusplus
extern "C" {{
#endif

"""


def c_api_header(functions: list[Function]) -> str:
    out = [C_API_HEAD.format(note=NOTE)]
    for title, group in by_family(functions):
        out.append(f"/* --- {title} --- */\n\n")
        for f in group:
            out.append(f"{doc_comment(f)}\nSPT_API int32_t spt_{f.name}({c_parameter_text(f)});\n\n")
    out.append("#ifdef __cplusplus\n}\n#endif\n#endif /* SIMPLE_TORCH_C_API_H_ */\n")
    return "".join(out)


SIMPLE_API_HEAD = """\
/* {note} */
/* The functions of c_api.h as Simple's `extern fn` calls them. Each returns its result, or an empty value on failure:
 * 0, "", an empty array.
 *
 * A call stores its status in the error record of its thread, so rt_torch_last_error_kind() != 0 means that the latest
 * call failed. Strings are malloc'ed, and the caller frees them. Arrays are freed with spl_array_free. Results of type
 * bool and i32 fill the whole register, as stock Simple's dynamic calls read it. */
#ifndef SIMPLE_TORCH_SIMPLE_API_H_
#define SIMPLE_TORCH_SIMPLE_API_H_

#include "simple_torch/c_api.h"

#ifdef __cplusplus
extern "C" {{
#endif

"""


def simple_api_header(functions: list[Function]) -> str:
    out = [SIMPLE_API_HEAD.format(note=NOTE)]
    for f in functions:
        out += [f"SPT_API {spelling_declaration(f, s)};\n" for s in f.spellings]
    out.append("\n#ifdef __cplusplus\n}\n#endif\n#endif /* SIMPLE_TORCH_SIMPLE_API_H_ */\n")
    return "".join(out)
