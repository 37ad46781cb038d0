"""Requests of Python clients: argv[1] is JSON with library, base, ca, token, http2. Prints a result a line."""

import json
import sys

options = json.loads(sys.argv[1])
BASE = options["base"]
AUTH = {"authorization": "Bearer " + options["token"], "space": "s1"}
UPLOAD = b"x" * 1048576

if options["library"] == "httpx":
    import httpx

    client = httpx.Client(http2=options["http2"], verify=options["ca"])
    version = lambda response: response.http_version
    stream = lambda path: client.stream("GET", BASE + path, headers=AUTH)
    parts = lambda response: response.iter_raw()
else:
    import requests

    client = requests.Session()
    client.verify = options["ca"]
    # A variable of the environment would come before `verify`.
    client.trust_env = False
    version = lambda response: "HTTP/1.1" if response.raw.version == 11 else "?"
    stream = lambda path: client.get(BASE + path, headers=AUTH, stream=True)
    parts = lambda response: response.iter_content(65536)


def tell(what, response, size):
    print(json.dumps([what, response.status_code, version(response), size]))


response = client.get(BASE + "/v1/trainings", headers=AUTH)
tell("get", response, len(response.content))
post = {"data": UPLOAD} if options["library"] == "requests" else {"content": UPLOAD}
response = client.post(BASE + "/v1/trainings", headers=AUTH, **post)
tell("upload", response, len(response.content))
response = client.get(BASE + "/v1/trainings")
tell("401", response, len(response.content))
response = client.delete(BASE + "/v1/trainings/7", headers=AUTH)
tell("403", response, len(response.content))
with stream("/v1/files/stream") as response:
    tell("stream", response, sum(len(part) for part in parts(response)))
