import { type Binding, bindingsOf } from "@scrip/contract";
import { expect, test } from "vitest";

import { publicServices } from "../../gateway/src/public-services.ts";
import { inParallel, type Json, managementApi, newProject } from "../stack/api.ts";
import { sharedStack } from "../stack/stack.ts";
import { type WritingRequest, writingRequests } from "../stack/writing-requests.ts";

const stack = await sharedStack("standalone");

const routes = bindingsOf(publicServices).filter(
  ({ side, segments }) => side === "server" && segments.some(({ kind }) => kind === "field"),
);

/** The values of the fields in a path; undefined when it is not of this route. */
function fieldsOf({ segments }: Binding, path: string): Map<string, string> | undefined {
  const parts = new URL(path, stack.url).pathname.slice(1).split("/");
  if (parts.length !== segments.length) return undefined;
  const values = new Map<string, string>();
  for (const [index, segment] of segments.entries()) {
    const part = decodeURIComponent(parts[index] ?? "");
    if (segment.kind === "literal" && segment.text !== part) return undefined;
    if (segment.kind === "field") values.set(segment.field.name, part);
  }
  return values;
}

/** Ids and codes of a project by resource (the first segment) and field: `vouchers.code`. */
function idsOf(requests: readonly WritingRequest[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  for (const { path, rpc } of requests) {
    const own = routes.filter(
      ({ method }) => rpc.split(" ")[0] === `${method.parent.name}.${method.name}`,
    );
    for (const route of own) {
      for (const [name, value] of fieldsOf(route, path) ?? []) {
        ids.set(`${route.path.split("/")[2]}.${name}`, value);
        if (!ids.has(name)) ids.set(name, value);
      }
    }
  }
  return ids;
}

const unknown = (id: string): string =>
  `${id.slice(0, -4)}${id.endsWith("0000") ? "1111" : "0000"}`;

test("a project gets the same response for the ids of another project as for unknown ids, on every route", async () => {
  const victim = await writingRequests(stack);
  const ids = idsOf(victim);
  const { api, id: intruderId } = await newProject(stack);
  const send = async (route: Binding, valueOf: (id: string) => string) => {
    const used: string[] = [];
    const path = route.segments.map((segment) => {
      if (segment.kind === "literal") return segment.text;
      const { name } = segment.field;
      const known = ids.get(`${route.path.split("/")[2]}.${name}`) ?? ids.get(name) ?? "none";
      used.push(valueOf(known));
      return encodeURIComponent(valueOf(known));
    });
    const row = victim.find(
      (request) => request.method === route.httpMethod && fieldsOf(route, request.path),
    );
    const response = await fetch(`${stack.url}/${path.join("/")}`, {
      method: route.httpMethod,
      headers: { ...api.headers, "content-type": "application/json" },
      ...(route.body !== "none" && { body: JSON.stringify(row?.body ?? {}) }),
    });
    let text = await response.text();
    for (const id of used) text = text.replaceAll(id, "<id>");
    return {
      status: response.status,
      text: text
        .replace(/"request_id":"[^"]*"/, "")
        .replaceAll(/"(\w+_)?(id|created_at)":"[^"]*"/g, ""),
    };
  };

  const seen: { readonly route: string; readonly status: number }[] = [];
  await inParallel(routes, 4, async (route) => {
    const name = `${route.httpMethod} ${route.path}`;
    const foreign = await send(route, (id) => id);
    expect(foreign, name).toEqual(await send(route, unknown));
    expect(foreign.status, `${name} ${foreign.text}`).toBeLessThan(500);
    seen.push({ route: name, status: foreign.status });
  });

  expect(seen.length).toBeGreaterThan(100);
  expect(seen.filter(({ status }) => status === 404).length).toBeGreaterThan(80);
  // Nothing that the intruder sent is a change of the victim.
  const { data } = (
    await managementApi(stack).get(
      `/management/v1/projects/${intruderId}/audit-log?limit=100&actor_id=${api.headers["x-app-id"]}`,
    )
  ).body;
  for (const { resource } of data as Json[]) expect([...ids.values()]).not.toContain(resource?.id);
});
