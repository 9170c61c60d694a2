"""Writes what is the same as the interface: `lib/tract/types.py` and `lib/tract/_methods.py`.

    python generate.py            writes both, from the extension module that is installed
    python generate.py --check    says whether they are as they would be written, and how not

The interface describes itself (`tract api describe`); nothing here knows a method by heart but for the order in
which parameters may be given without their names.
"""

import difflib
import json
import keyword
import pathlib
import sys

from tract import _tract

HERE = pathlib.Path(__file__).parent / "lib" / "tract"
HEAD = '"""{}\n\nWritten by `generate.py` from the interface itself. Do not edit.\n"""\n\n'

# Parameters that may be given without their names, in order. The first one, unless it stands here.
POSITIONAL = {
    "compile": ["format"],
    "commit": ["role", "message"],
    "branch": ["name", "rev"],
    "config": ["key", "value"],
    "remote_add": ["name", "url"],
    "remote_set_url": ["name", "url"],
    "remote_rename": ["old", "new"],
    "bundle": ["file", "what"],
    "diff": ["before", "after"],
    "read": ["rev", "last"],
}
# Their answer is made pleasant by hand, in `_repo.py`: what they give there, and in `_aio.py`.
BY_HAND = {"compile"}
# What the generic interface has and Python writes by hand.
HIDDEN = {"advance"}


def python_name(name):
    return name + "_" if keyword.iskeyword(name) else name


def doc(text, indent):
    text = text.replace("\\", "\\\\").replace('"""', "'''").split("\n")
    return ("\n" + " " * indent).join(line.strip() for line in text)


class Types:
    """A JSON Schema as annotations."""

    def __init__(self, definitions):
        self.definitions = definitions

    def of(self, schema):
        if schema is True or not schema:
            return "Any"
        if "$ref" in schema:
            return schema["$ref"].rsplit("/", 1)[1]
        for choice in ("anyOf", "oneOf"):
            if choice in schema:
                return self.union([self.of(one) for one in schema[choice]])
        if "const" in schema:
            return f"Literal[{json.dumps(schema['const'])}]"
        if "enum" in schema:
            return self.union([f"Literal[{json.dumps(one)}]" for one in schema["enum"]])
        kinds = schema.get("type")
        if kinds is None:
            return "Any"
        kinds = kinds if isinstance(kinds, list) else [kinds]
        return self.union([self.kind(kind, schema) for kind in kinds])

    def kind(self, kind, schema):
        simple = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
        if kind in simple:
            return simple[kind]
        if kind == "array":
            # A list in JSON, whatever it is in Rust.
            parts = schema.get("prefixItems")
            one = self.union([self.of(part) for part in parts]) if parts else self.of(schema.get("items", True))
            return f"List[{one}]"
        return f"Dict[str, {self.of(schema.get('additionalProperties', True))}]"

    @staticmethod
    def union(parts):
        parts = list(dict.fromkeys(parts))
        optional = "None" in parts
        parts = [part for part in parts if part != "None"]
        if not parts:
            return "None"
        literals = [part[8:-1] for part in parts if part.startswith("Literal[")]
        if len(literals) > 1:
            rest = [part for part in parts if not part.startswith("Literal[")]
            parts = [f"Literal[{', '.join(literals)}]", *rest]
        joined = parts[0] if len(parts) == 1 else f"Union[{', '.join(parts)}]"
        if joined == "Any":
            return "Any"
        return f"Optional[{joined}]" if optional else joined


def types_file(described):
    definitions, lines = described["$defs"], []
    types = Types(definitions)
    for name, schema in definitions.items():
        about = doc(schema.get("description", ""), 4)
        if "properties" not in schema and schema.get("type") != "object":
            lines += [f"{name} = {types.of(schema)}", f'"""{about}"""', "", ""]
            continue
        properties = schema.get("properties", {})
        if any(keyword.iskeyword(member) for member in properties):
            # A class cannot say these names; only parameters have them, and the methods' signatures say them.
            fields = ", ".join(f'"{member}": "{types.of(of)}"' for member, of in properties.items())
            lines += [f'{name} = TypedDict("{name}", {{{fields}}}, total=False)', f'"""{about}"""', "", ""]
            continue
        required = [member for member in properties if member in schema.get("required", [])]
        optional = [member for member in properties if member not in required]

        def body(members):
            out = []
            for member in members:
                out.append(f"    {member}: {types.of(properties[member])}")
                if "description" in properties[member]:
                    out.append(f'    """{doc(properties[member]["description"], 4)}"""')
            return out

        if required and optional:
            lines += [f"class _{name}(TypedDict):", f'    """{about}"""', *body(required), "", ""]
            lines += [f"class {name}(_{name}, total=False):", f'    """{about}"""', *body(optional), "", ""]
        else:
            total = "" if required or not optional else ", total=False"
            inside = body(required or optional) or ["    pass"]
            lines += [f"class {name}(TypedDict{total}):", f'    """{about}"""', *inside, "", ""]
    head = HEAD.format("What methods take and give, as plain dicts.")
    head += "from __future__ import annotations\n\n"
    head += "from typing import Any, Dict, List, Literal, Optional, TypedDict, Union\n\n"
    head += f"VERSION = {described['version']}\n"
    head += '"""The version of the interface."""\n\n\n'
    return head + "\n".join(lines).rstrip() + "\n"


def method_lines(method, types, definitions, is_async):
    name = method["name"]
    schema = definitions[method["params"]["$ref"].rsplit("/", 1)[1]]
    answer = types.of(method["result"])
    answer = answer if answer == "Any" else f"types.{answer}"
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    first = POSITIONAL.get(name, list(properties)[:1])
    first = [member for member in first if member in properties]
    # What is required stands first, so that Python takes it.
    first.sort(key=lambda member: member not in required)
    rest = [member for member in properties if member not in first]
    rest.sort(key=lambda member: member not in required)

    def typed(of):
        text = types.of(of)
        for known in sorted(definitions, key=len, reverse=True):
            text = text if text != known else f"types.{known}"
        return text

    def parameter(member):
        of = typed(properties[member])
        if member in required:
            return f"{python_name(member)}: {of}"
        of = of if of.startswith("Optional[") or of == "Any" else f"Optional[{of}]"
        return f"{python_name(member)}: {of} = None"

    head = ", ".join(["self", *map(parameter, first), *(["*"] if rest else []), *map(parameter, rest)])
    word = "async def" if is_async else "def"
    public = python_name(name) if name not in BY_HAND else f"_{name}"
    out = [f"    {word} {public}({head}) -> {answer}:"]
    out.append(f'        """{doc(method["about"], 8)}')
    if properties:
        out.append("")
        for member in first + rest:
            about = doc(properties[member].get("description", ""), 16)
            out.append(f"        - `{python_name(member)}`: {about}")
    out.append('        """')
    given = ", ".join(f'"{member}": {python_name(member)}' for member in first + rest)
    ask = f'self._ask("{name}", {{{given}}})'
    out += [f"        return {'await ' if is_async else ''}{ask}", ""]
    return out


def methods_file(described):
    types = Types(described["$defs"])
    out = HEAD.format("The methods, as Python calls them.")
    out += "from __future__ import annotations\n\n"
    out += "from typing import Any, Dict, List, Optional\n\nfrom . import types\n"
    for is_async, name in ((False, "Methods"), (True, "AsyncMethods")):
        word = "async def" if is_async else "def"
        out += f"\n\nclass {name}:\n"
        out += '    """What a repository can be asked."""\n\n'
        out += f"    {word} _ask(self, method: str, params: Dict[str, Any]) -> Any:\n"
        out += "        raise NotImplementedError\n\n"
        lines = []
        for method in described["methods"]:
            if method["name"] not in HIDDEN:
                lines += method_lines(method, types, described["$defs"], is_async)
        out += "\n".join(lines).rstrip() + "\n"
    return out


def main():
    described = json.loads(_tract.describe())
    files = {"types.py": types_file(described), "_methods.py": methods_file(described)}
    if "--check" not in sys.argv:
        for name, text in files.items():
            (HERE / name).write_text(text, encoding="utf-8")
        return 0
    differs = 0
    for name, text in files.items():
        kept = (HERE / name).read_text(encoding="utf-8")
        if kept != text:
            differs = 1
            lines = difflib.unified_diff(kept.splitlines(), text.splitlines(), name, "generated", lineterm="", n=1)
            print("\n".join(lines))
    return differs


if __name__ == "__main__":
    sys.exit(main())
