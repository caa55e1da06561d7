import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Received = { readonly headers: IncomingMessage["headers"]; readonly body: string };

/** A server that records requests by path; it responds 200 unless told otherwise. */
export async function startWebhookReceiver() {
  const requests = new Map<string, Received[]>();
  const responses = new Map<string, (response: ServerResponse) => void>();
  const server = createServer((request, response) => {
    const path = (request.url ?? "").slice(1);
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      requests.set(path, [...(requests.get(path) ?? []), { headers: request.headers, body }]);
      (responses.get(path) ?? ((each) => each.end()))(response);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (path: string) => `http://127.0.0.1:${port}/${path}`,
    of: (path: string) => requests.get(path) ?? [],
    respond: (path: string, how: (response: ServerResponse) => void) => responses.set(path, how),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
