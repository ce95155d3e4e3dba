"""An authentication webhook for a test: ``python -m tests.node.webhook ADDRESS PORT``; it knows one token."""

import http.server
import json
import sys

TOKEN = "sesame"
USER = "walker"


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers a TokenReview."""

    def do_POST(self) -> None:
        """Say who the token's owner is."""
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = review["spec"]["token"] == TOKEN
        print("review", review["apiVersion"], known, flush=True)  # noqa: T201  # the test reads what the process prints
        review["status"] = {"authenticated": known, **({"user": {"username": USER}} if known else {})}
        answer = json.dumps(review).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


if __name__ == "__main__":
    http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
