import type { LoadSpec } from "./load-client.ts";
import type { Standalone } from "./standalone.ts";

/** A shop's server as the benchmark drives it. */
export type Api = {
  /** Answers the id of what was made. */
  readonly make: (route: string, body: object) => Promise<string>;
  /** The parts of a request that is sent again and again; a code may stand between the two. */
  readonly request: (
    route: { readonly before: string; readonly after: string },
    body: Body,
  ) => Request;
};

/** One body, or several of the same length of which each request draws one. */
export type Body = string | readonly string[];
type Request = Pick<LoadSpec, "port" | "before" | "after" | "bodies">;

export async function openApi(standalone: Standalone): Promise<Api> {
  const { port } = standalone;
  const headers = { ...(await authenticate(standalone)), "Content-Type": "application/json" };
  return {
    make: async (route, body) => {
      const made = await post({ port }, route, { headers, body: JSON.stringify(body) });
      return String(made["id"]);
    },
    request: ({ before, after }, body) => {
      const bodies = typeof body === "string" ? [body] : body;
      const length = Buffer.byteLength(bodies[0] ?? "");
      if (bodies.some((one) => Buffer.byteLength(one) !== length)) {
        throw new Error("the bodies of a load differ in length");
      }
      return {
        port,
        bodies,
        before: `POST ${before}`,
        after:
          `${after} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
          Object.entries({ ...headers, "Content-Length": String(length) })
            .map(([name, value]) => `${name}: ${value}\r\n`)
            .join("") +
          "\r\n",
      };
    },
  };
}

/** What only the operator may do: the stacking rules of the benchmark's project. */
export async function setStackingRules({ port, keys }: Standalone, rules: object): Promise<void> {
  const headers = {
    "X-Management-Id": keys["SCRIP_MANAGEMENT_ID"] ?? "",
    "X-Management-Token": keys["SCRIP_MANAGEMENT_TOKEN"] ?? "",
    "Content-Type": "application/json",
  };
  const projects = `http://127.0.0.1:${port}/management/v1/projects`;
  const answer = await fetch(projects, { headers });
  const { projects: [project] = [] } = (await answer.json()) as { projects?: { id: string }[] };
  if (project === undefined) throw new Error("the installation has no project");
  const body = JSON.stringify(rules);
  await post({ port }, `/management/v1/projects/${project.id}/stacking-rules`, { headers, body });
}

async function authenticate({ port, keys }: Standalone): Promise<Record<string, string>> {
  const application = {
    "X-App-Id": keys["SCRIP_APP_ID"] ?? "",
    "X-App-Token": keys["SCRIP_APP_TOKEN"] ?? "",
  };
  const { access_token: token } = await post({ port }, "/v1/oauth/token", {
    headers: { ...application, "Content-Type": "application/x-www-form-urlencoded" },
    body: "grant_type=client_credentials&scope=api",
  });
  return { ...application, Authorization: `Bearer ${String(token)}` };
}

async function post(
  { port }: { port: number },
  route: string,
  request: { headers: Record<string, string>; body: string },
): Promise<Record<string, unknown>> {
  const answer = await fetch(`http://127.0.0.1:${port}${route}`, { method: "POST", ...request });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`POST ${route} answered ${answer.status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}
