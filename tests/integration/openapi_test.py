"""The gateway's description of /v1 is OpenAPI 3.1: its own objects, and JSON Schema within them."""

import copy
import json
import os
import re
import subprocess
import unittest

import jsonschema

from cluster import program

FIXTURE = os.path.join(os.path.dirname(__file__), "..", "fixtures", "openapi", "v3.1.json")
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


def walk(value, place=""):
    """Every object within, with its place."""
    if isinstance(value, dict):
        yield place, value
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from walk(each, f"{place}/{key}")


def schemas_in(document):
    """Every Schema Object that stands by itself."""
    yield from document.get("components", {}).get("schemas", {}).items()
    for place, each in walk(document.get("paths", {})):
        if "schema" in each and not place.endswith("/properties"):
            yield f"{place}/schema", each["schema"]


def operations_of(document):
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def problems_of(document):
    """What is wrong with a description, a line each."""
    with open(FIXTURE, encoding="utf-8") as file:
        openapi = json.load(file)
    found = [f"/{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
             for error in jsonschema.Draft202012Validator(openapi).iter_errors(document)]
    if found:
        return found
    for place, schema in schemas_in(document):
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            found.append(f"{place}: {error.message}")
    for place, each in walk(document):
        target = document
        for step in each["$ref"].removeprefix("#/").split("/") if isinstance(each.get("$ref"), str) else ():
            target = target.get(step.replace("~1", "/").replace("~0", "~"), {})
        if not target:
            found.append(f"{place}: {each['$ref']} leads nowhere")
    names = set()
    for path, method, operation in operations_of(document):
        named = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "path"}
        if named != set(re.findall(r"{([^}]*)}", path)):
            found.append(f"{method} {path}: its parameters are {sorted(named)}")
        pairs = [(each["name"], each["in"]) for each in operation.get("parameters", ())]
        if len(pairs) != len(set(pairs)):
            found.append(f"{method} {path}: a parameter stands there twice")
        if operation["operationId"] in names:
            found.append(f"{operation['operationId']}: stands there twice")
        names.add(operation["operationId"])
    return found


class OpenApiTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        printed = subprocess.run([program("muster-gateway"), "--print-openapi"], capture_output=True, check=True)
        cls.document = json.loads(printed.stdout)

    def test_the_fixture_is_a_schema(self):
        with open(FIXTURE, encoding="utf-8") as file:
            jsonschema.Draft202012Validator.check_schema(json.load(file))

    def test_the_whole_description_is_openapi(self):
        self.assertEqual(problems_of(self.document), [])
        self.assertGreater(len(list(operations_of(self.document))), 50)
        self.assertGreater(len(list(schemas_in(self.document))), 100)

    def test_each_mistake_of_a_description_is_found(self):
        def damaged(change):
            document = copy.deepcopy(self.document)
            change(document)
            return document

        def operation(document):
            return document["paths"]["/v1/jobs"]["get"]

        mistakes = {
            "no title": lambda d: d["info"].pop("title"),
            "another version": lambda d: d.update(openapi="3.0.3"),
            "a key that is none": lambda d: d.update(basePath="/"),
            "a path without a slash": lambda d: d["paths"].update({"v1/x": {}}),
            "a method that is none": lambda d: d["paths"]["/v1/jobs"].update(fetch={}),
            "a parameter nowhere": lambda d: operation(d)["parameters"].append({"name": "x", "schema": {}}),
            "a path's parameter that may be missing":
                lambda d: d["paths"]["/v1/jobs/{job.job}"]["get"]["parameters"][0].pop("required"),
            "a response without words": lambda d: operation(d)["responses"]["200"].pop("description"),
            "a status that is none": lambda d: operation(d)["responses"].update({"600": {"description": "x"}}),
            "a type that is none": lambda d: d["components"]["schemas"]["JobView"].update(type="struct"),
            "a reference to nothing": lambda d: d["components"]["schemas"].pop("JobView"),
            "a scheme without its kind": lambda d: d["components"]["securitySchemes"]["token"].pop("scheme"),
            "a header without a shape": lambda d: operation(d)["responses"]["200"].update(headers={"X-Next": {}}),
            "a link to no call": lambda d: operation(d)["responses"]["200"].update(links={"next": {"description": "x"}}),
            "an example that is two": lambda d: operation(d)["responses"]["200"]["content"]["application/json"].update(
                examples={"one": {"value": 1, "externalValue": "x"}}),
            "a form that headers do not have": lambda d: operation(d)["parameters"].append(
                {"name": "x", "in": "header", "style": "form", "schema": {}}),
            "a callback that is no path": lambda d: operation(d).update(callbacks={"done": {"{$url}": {"fetch": {}}}}),
            "an encoding with a key that is none": lambda d: operation(d)["responses"]["200"]["content"][
                "application/json"].update(encoding={"jobs": {"gzip": True}}),
            "one name for two": lambda d: operation(d).update(operationId="getEvents"),
            "a parameter of no part of the path": lambda d: operation(d)["parameters"].append(
                {"name": "job", "in": "path", "required": True, "schema": {"type": "string"}}),
        }
        for what, change in mistakes.items():
            self.assertNotEqual(problems_of(damaged(change)), [], what)


if __name__ == "__main__":
    unittest.main()
