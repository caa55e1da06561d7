import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { DeliveredEvent } from "@scrip/events";
import { newId } from "@scrip/ids";
import { maintainPartitions } from "@scrip/postgres";
import { ChangeAuditedSchema } from "@scrip/proto/scrip/events/v1/audit_pb";
import { asAdmin, lockWaits } from "@scrip/testing";
import fc from "fast-check";
import { Client } from "pg";
import { afterAll, describe, expect, test } from "vitest";

import {
  type ChainEnd,
  listAuditProjects,
  readAuditScope,
  readChainEnds,
  verifyProject,
  withAuditProject,
} from "../src/audit-log/index.ts";
import { onChange } from "../src/events/on-change.ts";
import { SCHEMA } from "../src/service.ts";
import { auditDayTable } from "../src/store/audit-days.ts";
import { auditTable } from "../src/store/audit-entries.ts";
import { newCall } from "./builders.ts";
import { startExports } from "./deps.ts";

const exports = await startExports();
afterAll(() => exports[Symbol.asyncDispose]());
const { db, webhooks } = exports;

const DAY_MS = 24 * 3_600_000;
const YEAR_MS = 365 * DAY_MS;
const CONTEXT = { group: "test", topic: "test", signal: new AbortController().signal };
const NOW = Date.now();
/** The middle of today and of earlier days, so that tests do not cross midnight. */
const noonOf = (daysAgo: number): number =>
  Math.floor(NOW / DAY_MS) * DAY_MS + DAY_MS / 2 - daysAgo * DAY_MS;
const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

await maintainPartitions({
  url: db.url,
  schema: SCHEMA,
  tables: [auditDayTable(YEAR_MS), auditTable(YEAR_MS)],
});

/** The event of a change by another service. */
function changed(projectId: string, { at = noonOf(0), action = "updateVoucher" } = {}) {
  const id = newId("aud");
  const entry = create(ChangeAuditedSchema, {
    projectId,
    id,
    action,
    resource: "voucher",
    resourceId: 'v_"1"',
    fields: ["metadata", "ä"],
    actorType: "server",
    actorId: "app_1",
    date: timestampFromMs(at),
  });
  return {
    id,
    projectId,
    topic: CONTEXT.topic,
    key: projectId,
    type: ChangeAuditedSchema.typeName,
    payload: toBinary(ChangeAuditedSchema, entry),
    headers: {},
    occurredAt: new Date(at),
    partition: 0,
    offset: 0n,
  } satisfies DeliveredEvent;
}

const deliver = (events: readonly DeliveredEvent[]) => onChange(db)(events, CONTEXT);

/** As an administrator who can change everything. */
const tamper = (sql: string, values: readonly unknown[] = []) =>
  asAdmin(db.url, (client) => client.query(sql.replaceAll("$schema", SCHEMA), [...values]));

/** The faults of projects, as `scrip audit verify` finds them. */
async function verify(
  projects: readonly string[],
  { ends = [], since = null }: { ends?: readonly ChainEnd[]; since?: string | null } = {},
) {
  const client = new Client({ connectionString: db.url, options: `-c search_path=${SCHEMA}` });
  await client.connect();
  const reader = { query: (text: string, values?: unknown[]) => client.query(text, values) };
  const counts = { entries: 0, unchained: 0 };
  const faults: string[] = [];
  try {
    const scope = await readAuditScope(reader as never, since);
    for (const projectId of projects) {
      const own = ends.filter((end) => end.project_id === projectId);
      await withAuditProject(reader as never, { projectId, since }, async (records) => {
        for await (const fault of verifyProject(records, { scope, ends: own, counts })) {
          faults.push([fault.day, fault.entryId ?? "-", fault.details].join(" "));
        }
      });
    }
    return { ...counts, faults };
  } finally {
    await client.end();
  }
}

const endsOf = async (projectId: string): Promise<readonly ChainEnd[]> =>
  (await readChainEnds(db)).filter((end) => end.project_id === projectId);

/** A project with three entries on each of two days. */
async function audited() {
  const projectId = newId("proj");
  const events = [1, 0].flatMap((daysAgo) =>
    [0, 1, 2].map((hour) => changed(projectId, { at: noonOf(daysAgo) + hour * 3_600_000 })),
  );
  await deliver(events);
  return { projectId, ids: events.map(({ id }) => id) };
}

const [YESTERDAY, TODAY] = [dateOf(noonOf(1)), dateOf(noonOf(0))];

describe("the chain of the audit log", () => {
  test("verifies whatever is delivered how often, in which order and to how many consumers", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            project: fc.nat(1),
            daysAgo: fc.nat(3),
            copies: fc.integer({ min: 1, max: 3 }),
          }),
          {
            minLength: 1,
            maxLength: 40,
          },
        ),
        fc.infiniteStream(fc.nat()),
        async (changes, order) => {
          const projects = [newId("proj"), newId("proj")];
          const events = changes.map(({ project, daysAgo }) =>
            changed(projects[project]!, { at: noonOf(daysAgo) }),
          );
          const delivered = events
            .flatMap((event, at) => Array.from({ length: changes[at]!.copies }, () => event))
            .map((event) => ({ event, position: order.next().value }))
            .toSorted((a, b) => a.position - b.position)
            .map(({ event }) => event);
          const batches = [0, 1, 2, 3].map((consumer) =>
            delivered.filter((_, at) => at % 4 === consumer),
          );
          await Promise.all(batches.map(deliver));
          expect(await verify(projects)).toEqual({
            entries: events.length,
            unchained: 0,
            faults: [],
          });
        },
      ),
      { numRuns: 25 },
    );
  });

  test("contains the changes of this service, also concurrent ones", async () => {
    const call = newCall();
    await Promise.all(
      Array.from({ length: 10 }, () =>
        webhooks.createWebhook(
          { targetUrl: "https://shop.example/hook", events: ["voucher.deleted"] },
          call,
        ),
      ),
    );
    expect(await verify([call.project.id])).toMatchObject({ entries: 10, faults: [] });
    expect(await listAuditProjects(db)).toContain(call.project.id);
  });

  test("continues beside a process of an earlier release, whose entries are named unless they precede the chains", async () => {
    const projectId = newId("proj");
    const tomorrow = noonOf(-1);
    const [first, foreign, last] = [0, 1, 2].map(() => changed(projectId, { at: tomorrow }));
    await deliver([first!]);
    const insert = (id: string, at: number) =>
      db.query(
        `insert into audit_entry (project_id, id, action, resource, resource_id, fields, actor_type, actor_id, request_id, occurred_at)
         values ($1, $2, 'a', '', '', '{}', '', '', '', $3)`,
        [projectId, id, new Date(at)],
      );
    await insert(newId("aud"), noonOf(300));
    await insert(foreign!.id, tomorrow);
    await deliver([foreign!, last!]);
    const faults = [`${dateOf(tomorrow)} ${foreign!.id} has no hash`];
    expect(await verify([projectId])).toEqual({ entries: 4, unchained: 1, faults });
    expect(await verify([projectId], { since: TODAY })).toMatchObject({ entries: 3, faults });
    const later = dateOf(noonOf(-2));
    expect(await verify([projectId], { since: later })).toMatchObject({ entries: 0, faults: [] });
  });

  test("is retried when a process of an earlier release stores the same entry meanwhile", async () => {
    const projectId = newId("proj");
    const [known, added] = [changed(projectId), changed(projectId)];
    const storedConcurrently = async (client: Client, work: () => Promise<void>) => {
      await client.query("begin");
      await client.query(
        `insert into ${SCHEMA}.audit_entry (project_id, id, action, resource, resource_id, fields, actor_type, actor_id, request_id, occurred_at)
         values ($1, $2, 'a', '', '', '{}', '', '', '', $3)`,
        [projectId, known.id, new Date(noonOf(0))],
      );
      const working = work();
      // In a session of its own: a transaction sees the activity of its first look.
      await expect.poll(() => lockWaits(db.url)).toBeGreaterThan(0);
      await client.query("commit");
      await working;
    };
    await asAdmin(db.url, (client) => storedConcurrently(client, () => deliver([known, added])));
    const { rows } = await db.query(
      "select id, position from audit_entry where project_id = $1 order by id",
      [projectId],
    );
    expect(rows).toEqual([
      { id: known.id, position: null },
      { id: added.id, position: 1n },
    ]);
  });
});

describe("verification names the first entry that was", () => {
  test.each([
    ["action", "action = 'readVoucher'"],
    ["actor_id", "actor_id = 'app_2'"],
    ["fields", "fields = '{metadata}'"],
    ["occurred_at", "occurred_at = occurred_at + interval '1 millisecond'"],
    ["request_id", "request_id = 'v-1'"],
  ])("changed: %s", async (_, change) => {
    const { projectId, ids } = await audited();
    await tamper(`update $schema.audit_entry set ${change} where id = any($1)`, [[ids[1], ids[2]]]);
    expect((await verify([projectId])).faults).toEqual([
      expect.stringMatching(`^${YESTERDAY} ${ids[1]} has the hash \\w+ instead of \\w+$`),
    ]);
  });

  test("deleted, in the middle or at the end of a day", async () => {
    const { projectId, ids } = await audited();
    await tamper("delete from $schema.audit_entry where id = any($1)", [[ids[1], ids[5]]]);
    expect((await verify([projectId])).faults).toEqual([
      `${YESTERDAY} ${ids[2]} follows entry 1: 2 is missing`,
      `${TODAY} - entry 3 of 3 is missing`,
    ]);
  });

  test("deleted with its whole day", async () => {
    const { projectId, ids } = await audited();
    await tamper("delete from $schema.audit_entry where id = any($1)", [ids.slice(0, 3)]);
    const all = `${YESTERDAY} - all entries are missing: 3`;
    const continued = `${TODAY} - continues entry 3 of ${YESTERDAY}, which is missing or was changed`;
    expect((await verify([projectId])).faults).toEqual([all, continued]);
    await tamper("delete from $schema.audit_day where project_id = $1 and day < $2", [
      projectId,
      new Date(noonOf(0) - DAY_MS / 2),
    ]);
    expect((await verify([projectId])).faults).toEqual([continued]);
  });

  test("inserted, without a hash, with the position of another one, or at the end", async () => {
    const { projectId, ids } = await audited();
    const copy = (id: string, columns: string, from: string | undefined) =>
      tamper(
        `insert into $schema.audit_entry (project_id, id, action, resource, resource_id, fields, actor_type, actor_id,
                                  request_id, occurred_at, position, previous_hash, hash)
         select project_id, $1, action, resource, resource_id, fields, actor_type, actor_id, request_id,
                occurred_at, ${columns}
           from $schema.audit_entry where id = $2`,
        [id, from],
      );
    const forged = [newId("aud"), newId("aud")];
    await copy(forged[0]!, "position, previous_hash, hash", ids[1]);
    await copy(forged[1]!, "position + 1, hash, sha256(hash)", ids[5]);
    const { faults } = await verify([projectId]);
    expect(faults).toEqual([
      `${YESTERDAY} ${forged[0]} has the position of another entry, 2`,
      expect.stringMatching(`^${TODAY} ${forged[1]} has the hash \\w+ instead of \\w+$`),
    ]);
    const plain = newId("aud");
    const { projectId: other, ids: others } = await audited();
    await copy(plain, "null, null, null", others[0]);
    expect((await verify([other], { since: YESTERDAY })).faults).toEqual([
      `${YESTERDAY} ${plain} has no hash`,
    ]);
  });

  test("removed together with the end of its day, or whose day is not stored", async () => {
    const { projectId, ids } = await audited();
    const ends = await endsOf(projectId);
    expect((await verify([projectId], { ends })).faults).toEqual([]);
    await tamper("delete from $schema.audit_entry where id = $1", [ids[5]]);
    await tamper(
      `update $schema.audit_day d set entries = 2, last_hash = e.hash
         from $schema.audit_entry e
        where e.id = $1 and d.project_id = e.project_id and d.day = date_trunc('day', e.occurred_at, 'UTC')`,
      [ids[4]],
    );
    // Only a hash that was stored elsewhere shows it.
    expect((await verify([projectId])).faults).toEqual([]);
    expect((await verify([projectId], { ends })).faults).toEqual([
      `${TODAY} - entry 3 is missing or was changed since its hash was written to a file`,
    ]);
    await tamper("delete from $schema.audit_day where project_id = $1", [projectId]);
    expect((await verify([projectId])).faults).toEqual([
      `${YESTERDAY} ${ids[0]} belongs to a day whose end is not stored`,
      `${TODAY} ${ids[3]} belongs to a day whose end is not stored`,
    ]);
  });
});

test("days are dropped together with their entries, and those after them still verify", async () => {
  const projectId = newId("proj");
  await deliver([changed(projectId, { at: noonOf(400) })]);
  await deliver([changed(projectId)]);
  expect(await verify([projectId])).toMatchObject({ entries: 2, faults: [] });
  await maintainPartitions({
    url: db.url,
    schema: SCHEMA,
    tables: [auditDayTable(YEAR_MS), auditTable(YEAR_MS)],
  });
  expect(await verify([projectId])).toMatchObject({ entries: 1, faults: [] });
});

test("days in default partitions are deleted together with their entries, whatever the time", async () => {
  const projectId = newId("proj");
  const expiring = Date.now() - YEAR_MS;
  const midnight = Math.floor(expiring / DAY_MS) * DAY_MS;
  await deliver([0, DAY_MS - 1].map((time) => changed(projectId, { at: midnight + time })));
  await maintainPartitions({
    url: db.url,
    schema: SCHEMA,
    tables: [auditDayTable(YEAR_MS), auditTable(YEAR_MS)],
  });
  expect(await verify([projectId])).toMatchObject({ entries: 2, faults: [] });
});
