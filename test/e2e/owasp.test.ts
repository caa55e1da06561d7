import { setTimeout as sleep } from "node:timers/promises";

import { afterAll, describe, expect, test } from "vitest";

import { createApi, inParallel } from "../stack/api.ts";
import { sharedStack } from "../stack/stack.ts";
import type { WritingRequest } from "../stack/writing-requests.ts";
import { createClientRequests, fieldNamesIn, SECRETS } from "./owasp/client-responses.ts";
import { rowsOfProject, rowsWith, settledRows, withoutDeletions } from "./owasp/database.ts";
import { extrasOf, withExtras } from "./owasp/mass-assignment.ts";
import { fieldProbes, pathProbes, type Probe } from "./owasp/probes.ts";
import { comparable } from "./owasp/responses.ts";
import { createSender, type Received } from "./owasp/send.ts";
import { createTenant, routes, routeOf, type Tenant } from "./owasp/tenant.ts";
import { startUrlListener } from "./owasp/url-listener.ts";
import { fieldsForUrls, withUrls } from "./owasp/urls.ts";

const LANES = 6;
/** Events of the requests have been handled after this time. */
const SETTLE_MS = 1_500;

const ATTEMPTS = 3;
const ADDS_CODES = /Campaign|Import/;
const POLL = { timeout: 20_000 };
const CREATES_CODES = /\.(Create(Voucher|CampaignVouchers|Campaign|Publication|Member)|Import\w+)$/;

const unknown = (id: string): string =>
  `${id.slice(0, -4)}${id.endsWith("0000") ? "1111" : "0000"}`;

/** Waits for the codes of all campaigns, so that two projects show the same. */
const generated = ({ api }: Tenant): Promise<void> =>
  expect
    .poll(async () => (await api.get("/v1/campaigns?limit=100")).text, POLL)
    .not.toContain('"vouchers_generation_status":"IN_PROGRESS"');

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/** docs/threat-model.md lists the tests of the other risks of the OWASP API Top 10. */
describe("objects, fields and URLs in requests", async () => {
  const stack = await sharedStack("standalone");
  const listener = await startUrlListener();
  afterAll(listener.close);
  const owner = await createTenant(stack);
  const intruder = await createTenant(stack);
  const assigner = await createTenant(stack);

  test("ids of another project get the responses of unknown ids, in paths, queries and bodies, and nothing there changes", async () => {
    // These need an argument, and a delivery.
    expect(owner.unread).toEqual([
      "/v1/publications/create",
      "/management/v1/projects/{project_id}/webhooks/{webhook_id}/deliveries/{delivery_id}",
    ]);
    const send = createSender(stack, intruder);
    const rollbacks = intruder.rows.filter(({ rpc }) => rpc.includes("Rollback"));
    // They would succeed once.
    for (const rollback of rollbacks) expect((await send(rollback)).status).toBe(200);
    const before = await settledRows(stack.databaseUrl, owner.projectId);
    const statuses: number[] = [];
    const differences: unknown[] = [];
    const check = async ({ name, method, headers, id, pathOf, bodyOf }: Probe): Promise<void> => {
      const ask = async (sent: string) => {
        const request = { method, headers, path: pathOf(sent), body: bodyOf?.(sent) };
        const { status, text } = await send(request);
        const isChange = method !== "GET" && isSuccess(status);
        return { status, response: comparable(text, sent, () => !isChange) };
      };
      // A request of another lane may have created an object of that name in between.
      for (let attempt = 1; ; attempt += 1) {
        const seen = [await ask(id), await ask(unknown(id))] as const;
        statuses.push(seen[0].status);
        if (JSON.stringify(seen[0]) === JSON.stringify(seen[1])) return;
        if (attempt === ATTEMPTS) return void differences.push({ name, seen });
      }
    };
    const probes = [...pathProbes(owner, intruder), ...fieldProbes(owner, intruder)];
    // Reads come first, and codes that the intruder creates last: then the code is its own.
    const phaseOf = ({ method, rpc, kind }: Probe): number =>
      method === "GET" ? 0 : kind === "voucher code" && CREATES_CODES.test(rpc) ? 2 : 1;
    for (const [, ofPhase] of [...Map.groupBy(probes, phaseOf)].toSorted(([a], [b]) => a - b)) {
      const byRpc = [...Map.groupBy(ofPhase, ({ rpc }) => rpc).values()];
      await inParallel(byRpc, LANES, async (ofRpc) => {
        for (const probe of ofRpc) await check(probe);
      });
    }
    expect(differences).toEqual([]);
    const count = (matches: (status: number) => boolean) => statuses.filter(matches).length;
    expect(count((status) => status === 404)).toBeGreaterThan(400);
    expect(count(isSuccess)).toBeGreaterThan(250);
    expect(count((status) => status >= 500 || status === 429)).toBe(0);
    await sleep(SETTLE_MS);
    const after = await rowsOfProject(stack.databaseUrl, owner.projectId);
    expect(withoutDeletions(before, after)).toEqual(before);
  });

  test("fields that only responses have change nothing, on every writing route", async () => {
    const marks = {
      text: listener.url,
      number: 987_654_321,
      time: "2001-02-03T04:05:06.000Z",
    };
    const [sendPlain, sendMarked] = [createSender(stack, owner), createSender(stack, assigner)];
    // Their first rules are created below.
    for (const { projectId, headers } of [owner, assigner]) {
      const path = `/management/v1/projects/${projectId}/stacking-rules`;
      expect((await createApi(stack.url, headers.management).delete(path)).status).toBe(204);
    }
    const failed: string[] = [];
    let sent = 0;
    // Points that an event earns arrive later, and would be in some responses only.
    const isEvent = ({ rpc }: WritingRequest): boolean => rpc.endsWith(".CreateCustomEvent");
    const inOrder = (rows: readonly WritingRequest[]) => [
      ...rows.filter((each) => !isEvent(each)),
      ...rows.filter(isEvent),
    ];
    const markedRows = inOrder(assigner.rows);
    for (const [at, row] of inOrder(owner.rows).entries()) {
      const marked = markedRows[at]!;
      const extras = extrasOf(routeOf(marked), marked.body, marks);
      sent += extras.length;
      const body = withExtras(marked.body, extras);
      const [without, withThem] = await Promise.all([
        sendPlain(row),
        sendMarked({ ...marked, body }),
      ]);
      // Which codes of a campaign and which campaigns come first depends on the processes that created them.
      const isCompared = (name: string): boolean =>
        !/\.Qualify(Vouchers|Campaigns)$/.test(row.rpc) ||
        !["redeemed_quantity", "vouchers_count"].includes(name);
      const seen = [without, withThem].map(({ status, text }: Received) => ({
        status,
        response: comparable(text, "<nothing>", isCompared),
      }));
      expect(seen[1], `${row.rpc} with ${extras.map(({ name }) => name).join(", ")}`).toEqual(
        seen[0],
      );
      if (!isSuccess(without.status)) failed.push(`${row.rpc}: ${without.text}`);
      if (ADDS_CODES.test(row.rpc)) await Promise.all([owner, assigner].map(generated));
    }
    expect(failed).toEqual([]);
    expect(sent).toBeGreaterThan(1_500);
    await sleep(SETTLE_MS);
    const texts = [marks.text, String(marks.number), marks.time.slice(0, 10)];
    const { projectId } = assigner;
    expect(await rowsWith(stack.databaseUrl, { projectId, texts })).toEqual([]);
    const tables = async (id: string) =>
      Object.entries(await rowsOfProject(stack.databaseUrl, id)).map(
        ([table, sum]) => `${table} ${sum.split(" ")[0]}`,
      );
    await expect
      .poll(async () => [await tables(projectId), await tables(owner.projectId)])
      .toSatisfy(([marked, plain]) => JSON.stringify(marked) === JSON.stringify(plain));
  });

  test("client-side responses have the recorded fields only, and no data of customers or of the merchant", async () => {
    const respond = await createClientRequests(stack);
    const lines: string[] = [];
    for (const route of routes.filter(({ side }) => side === "client")) {
      const { text, body } = await respond(route);
      for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret);
      const names = [...new Set(fieldNamesIn(body))].toSorted();
      lines.push(`${route.httpMethod} ${route.path}`, ...names.map((name) => `  ${name}`), "");
    }
    await expect(lines.join("\n")).toMatchFileSnapshot("owasp/client-side-fields.txt");
  });

  test("no URL in a request is requested, whichever field contains it", async () => {
    const send = createSender(stack, intruder);
    const accepted: string[] = [];
    await inParallel(intruder.rows, LANES, async (row) => {
      const route = routeOf(row);
      if (route.method.parent.name === "WebhookService") return;
      let fields = fieldsForUrls(route, row.body);
      for (;;) {
        const { status, text } = await send({
          ...row,
          body: withUrls(row.body, fields, listener.url),
        });
        if (isSuccess(status))
          accepted.push(...fields.map(({ place }) => `${row.rpc} ${place.join(".")}`));
        const rejected = fields.filter(({ place }) => text.includes(String(place[0])));
        if (status !== 400 || rejected.length === 0) return;
        fields = fields.filter((each) => !rejected.includes(each));
      }
    });
    expect(accepted.length).toBeGreaterThan(120);
    await sleep(SETTLE_MS);
    expect(listener.connections()).toBe(0);
    await fetch(listener.url);
    expect(listener.connections()).toBe(1);
  });
});
