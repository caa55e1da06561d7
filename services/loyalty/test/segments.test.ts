import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { isForeignKeyViolation } from "@scrip/postgres";
import type { CreateSegmentRequestSchema } from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import { afterAll, describe, expect, test } from "vitest";

import { type Init, newCall, newCustomers, NOON } from "./builders.ts";
import { startLoyalty, untilBlocked } from "./deps.ts";

const loyalty = await startLoyalty();
afterAll(() => loyalty[Symbol.asyncDispose]());
const { customers, db, segments } = loyalty;

const gold = { "metadata.tier": { conditions: { $is: "gold" } } };

describe("CreateSegment", () => {
  test.each<[string, Init<typeof CreateSegmentRequestSchema>]>([
    ["DONE", { name: "s", type: "static" }],
    ["IN_PROGRESS", { name: "s", type: "auto-update", filter: gold }],
    ["DONE", { name: "s", type: "passive", filter: gold }],
  ])("stores a segment that is %s: %j", async (initialSyncStatus, request) => {
    const call = newCall();
    const created = await segments.createSegment(request, call);
    expect(created).toMatchObject({
      id: expect.stringMatching(/^seg_/),
      name: "s",
      type: request.type,
      initialSyncStatus,
    });
    expect(created.filter).toEqual(request.filter);
    expect(await segments.getSegment({ segmentId: created.id }, call)).toEqual(created);
  });

  test.each<[string, Init<typeof CreateSegmentRequestSchema>]>([
    ["a static segment with a filter", { name: "s", type: "static", filter: gold }],
    ["a passive segment without a filter", { name: "s", type: "passive" }],
    [
      "a passive segment with customers",
      { name: "s", type: "passive", filter: gold, customers: ["cust_1"] },
    ],
    [
      "a filter by the number of segments",
      { name: "s", type: "passive", filter: { segments: { conditions: { $count: 1 } } } },
    ],
    [
      "a filter with an unknown field",
      { name: "s", type: "passive", filter: { points: { conditions: { $is: 1 } } } },
    ],
  ])("rejects %s", async (_name, request) => {
    const call = newCall();
    await expect(segments.createSegment(request, call)).rejects.toMatchObject({
      key: "invalid_payload",
    });
    expect((await segments.listSegments({}, call)).total).toBe(0n);
  });

  test("limits a project to 100 segments with a filter, also when they are created concurrently", async () => {
    const call = newCall();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 105 }, (_, index) =>
        segments.createSegment({ name: `s${index}`, type: "auto-update", filter: {} }, call),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(100);
    await segments.createSegment({ name: "static", type: "static" }, call);
  });

  test("adds 20,000 customers in one request and rejects an unknown one", async () => {
    const call = newCall();
    const { rows } = await db.query<{ id: string }>(
      `insert into customer (project_id, id, created_at)
     select $1, 'cust_' || n, now() from generate_series(1, 20000) n returning id`,
      [call.project.id],
    );
    const ids = rows.map(({ id }) => id);
    const { id } = await segments.createSegment(
      { name: "all", type: "static", customers: ids },
      call,
    );
    const { total } = await customers.listCustomers({ segmentId: id }, call);
    expect(total).toBe(20_000n);
    const more = [...ids.slice(1), "cust_unknown"];
    await expect(
      segments.createSegment({ name: "more", type: "static", customers: more }, call),
    ).rejects.toMatchObject({ key: "not_found", options: { resourceId: "cust_unknown" } });
  });

  test("rejects a customer who is deleted concurrently", async () => {
    const { create: createCustomer, call } = newCustomers(loyalty);
    const [ada, cy] = [
      await createCustomer({ sourceId: "ada" }),
      await createCustomer({ sourceId: "cy" }),
    ];
    const create = (): Promise<unknown> =>
      segments.createSegment({ name: "some", type: "static", customers: [cy.id, ada.id] }, call);
    let creation: Promise<unknown> | undefined;
    await db.transaction(async (tx) => {
      await tx.query("delete from customer where project_id = $1 and id = $2", [
        call.project.id,
        ada.id,
      ]);
      creation = create();
      await untilBlocked(db, creation);
    });
    // On a slow machine the wait has timed out, and the request is repeated.
    const again = async (error: unknown): Promise<unknown> => {
      if (isForeignKeyViolation(error, "segment_customer_of_customer")) throw error;
      return create();
    };
    await expect(creation?.catch(again)).rejects.toMatchObject({
      key: "not_found",
      options: { resourceId: ada.id, resourceType: "customer" },
    });
  });
});

describe("ListSegments", () => {
  test("returns pages, newest first, and applies filters", async () => {
    const call = newCall();
    for (const [index, name] of ["a", "b", "c"].entries()) {
      await segments.createSegment({ name, type: "static" }, { ...call, now: NOON + index * 1000 });
    }
    const list = async (request: object) => {
      const { data, total } = await segments.listSegments(request, call);
      return { names: data.map(({ name }) => name), total };
    };
    expect(await list({ limit: 2n })).toEqual({ names: ["c", "b"], total: 3n });
    expect(await list({ limit: 2n, page: 2n })).toEqual({ names: ["a"], total: 3n });
    expect(await list({ filters: { name: { conditions: { $is: "b" } } } })).toEqual({
      names: ["b"],
      total: 1n,
    });
    const createdAt = { after: timestampFromMs(NOON), before: timestampFromMs(NOON + 2000) };
    expect(await list({ createdAt })).toEqual({ names: ["b"], total: 1n });
  });
});

describe("GetSegment and DeleteSegment", () => {
  test("reject an unknown segment, and one that is deleted already", async () => {
    const call = newCall();
    const { id: segmentId } = await segments.createSegment({ name: "s", type: "static" }, call);
    await segments.deleteSegment({ segmentId }, call);
    await Promise.all(
      [segments.getSegment({ segmentId }, call), segments.deleteSegment({ segmentId }, call)].map(
        (attempt) => expect(attempt).rejects.toMatchObject({ key: "not_found" }),
      ),
    );
  });

  test("keep a segment that the filter of another one names", async () => {
    const call = newCall();
    const create = (conditions: object, type = "auto-update") =>
      segments.createSegment(
        { name: "s", type, filter: { segments: { conditions } } } as never,
        call,
      );
    const { id: segmentId } = await segments.createSegment({ name: "s", type: "static" }, call);
    const naming = await create({ $not_in: ["seg_0", segmentId] }).catch((error: unknown) => error);
    expect(naming).toMatchObject({ key: "not_found", options: { resourceId: "seg_0" } });
    const { id } = await create({ $is: segmentId });
    await expect(create({ $in: [id] })).rejects.toMatchObject({ key: "invalid_payload" });
    await expect(segments.deleteSegment({ segmentId }, call)).rejects.toMatchObject({
      key: "resource_in_use",
      options: { related: { type: "segment", ids: [id], total: 1n } },
    });
    await segments.deleteSegment({ segmentId: id }, call);
    await segments.deleteSegment({ segmentId }, call);
  });

  test("become auto-update when something follows them, except static ones", async () => {
    const call = newCall();
    const filter = { name: { conditions: { $is: ["Ann"] } } };
    for (const [type, followed] of [
      ["passive", "auto-update"],
      ["auto-update", "auto-update"],
      ["static", "static"],
    ] as const) {
      const { id: segmentId } = await segments.createSegment(
        { name: type, type, ...(type !== "static" && { filter }) },
        call,
      );
      await segments.followSegment({ segmentId }, call);
      await segments.followSegment({ segmentId }, call);
      expect((await segments.getSegment({ segmentId }, call)).type).toBe(followed);
    }
    await segments.followSegment({ segmentId: "seg_none" }, call);
  });

  test("end the membership of customers immediately", async () => {
    const { create, call } = newCustomers(loyalty);
    const ada = await create({ sourceId: "ada", metadata: { tier: "gold" } });
    const listed = { name: "listed", type: "static", customers: [ada.id] };
    const filtered = { name: "gold", type: "passive", filter: gold };
    const ids = [
      (await segments.createSegment(listed, call)).id,
      (await segments.createSegment(filtered, call)).id,
    ];
    const memberships = async () => {
      const { data } = await segments.listCustomerSegments({ customerId: "ada" }, call);
      return data.map(({ id }) => id);
    };
    expect(await memberships()).toEqual(ids.toSorted());
    for (const segmentId of ids) await segments.deleteSegment({ segmentId }, call);
    expect(await memberships()).toEqual([]);
  });
});
