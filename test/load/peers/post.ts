import { Agent, request } from "node:http";

export type Response = {
  readonly status: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
  /** Vendure's session, in the response that created it. */
  readonly sessionToken: string | undefined;
};

/** As many keep-alive connections as there are requests at the same time. */
const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: Infinity });
/** Longer than any request of a race waits. */
const TIMEOUT_MS = 300_000;

/** Closes the connections, which a server may close too while they are idle, just when the next request is sent. */
export const closeConnections = (): void => agent.destroy();

export function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        agent,
        method: "POST",
        timeout: TIMEOUT_MS,
        headers: {
          ...headers,
          "Content-Type": "application/json",
          "Content-Length": Buffer.byteLength(body),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          resolve({
            status: response.statusCode ?? 0,
            body: Buffer.concat(chunks).toString(),
            retryAfter: response.headers["retry-after"],
            sessionToken: single(response.headers["vendure-auth-token"]),
          });
        });
      },
    );
    sent.on("timeout", () => sent.destroy(new Error(`no response within ${TIMEOUT_MS} ms`)));
    sent.on("error", reject);
    sent.end(body);
  });
}

const single = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === "string" ? value : value?.[0];
