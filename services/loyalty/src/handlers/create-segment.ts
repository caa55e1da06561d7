import { invalidPayload, notFound } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import type {
  CreateSegmentRequest,
  SegmentService,
} from "@scrip/proto/scrip/loyalty/v1/segments_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { parseSegmentFilter } from "../domain/segment-matching.ts";
import { segmentsNamedIn } from "../domain/segment-reads.ts";
import { segmentToProto } from "../mapping/segment.ts";
import {
  addToSegment,
  countSegments,
  findSegments,
  insertSegment,
  lockSegments,
  type SegmentRow,
  type SegmentType,
} from "../store/segments.ts";

/** Each of them is evaluated for every customer whose segments are requested. */
const MAX_DYNAMIC = 100n;
const MAX_SEGMENTS = 10_000n;

export const createSegment =
  (deps: Deps): Handler<typeof SegmentService.method.createSegment> =>
  async (request, { project, now }) => {
    const row: SegmentRow = {
      id: deps.newId("seg"),
      name: request.name,
      type: request.type as SegmentType,
      filter: parseFilter(request),
      created_at: new Date(now),
      updated_at: null,
      sync_status: request.type === "auto-update" ? "IN_PROGRESS" : null,
    };
    await deps.definitions.write(project.id, async (tx) => {
      await lockSegments(tx, project.id);
      await requireCapacity(tx, project.id, row);
      await requireNamedSegments(tx, project.id, row);
      await insertSegment(tx, project.id, row);
      await addCustomers(tx, { projectId: project.id, segmentId: row.id }, request.customers);
    });
    return segmentToProto(row);
  };

function parseFilter({ type, filter, customers }: CreateSegmentRequest): SegmentRow["filter"] {
  if (type === "static") {
    if (filter !== undefined)
      throw invalidPayload("Property .filter does not belong to a 'static' segment");
    return null;
  }
  if (customers.length > 0)
    throw invalidPayload(`Property .customers does not belong to a '${type}' segment`);
  if (filter === undefined) {
    throw invalidPayload("Payload should have required property 'filter'");
  }
  const read = parseSegmentFilter(filter);
  if (read.kind === "violation") throw invalidPayload(read.text.replaceAll(".filters", ".filter"));
  return filter;
}

async function requireCapacity(tx: Queryable, projectId: string, row: SegmentRow): Promise<void> {
  const { total, dynamic } = await countSegments(tx, projectId);
  if (total >= MAX_SEGMENTS) {
    throw invalidPayload(`A project cannot have more than ${MAX_SEGMENTS} segments`);
  }
  if (row.filter !== null && dynamic >= MAX_DYNAMIC) {
    throw invalidPayload(`A project cannot have more than ${MAX_DYNAMIC} segments with a filter`);
  }
}

/** Segments exist before those that name them, and do not name others themselves: so there are neither cycles nor chains. */
async function requireNamedSegments(
  tx: Queryable,
  projectId: string,
  { filter }: SegmentRow,
): Promise<void> {
  const ids = segmentsNamedIn(filter ?? {});
  const found = await findSegments(
    tx,
    ids.map((id) => ({ projectId, id })),
  );
  for (const id of ids) {
    const named = found.find((segment) => segment.id === id);
    if (named === undefined) throw notFound("segment", id);
    if (segmentsNamedIn(named.filter ?? {}).length > 0) {
      throw invalidPayload(
        `Property .filter.segments cannot name segment '${id}', whose filter names segments`,
      );
    }
  }
}

async function addCustomers(
  tx: Queryable,
  segment: { readonly projectId: string; readonly segmentId: string },
  customers: readonly string[],
): Promise<void> {
  if (customers.length === 0) return;
  const customerIds = [...new Set(customers)];
  const added = await addToSegment(tx, { ...segment, customerIds });
  const unknown = customerIds.find((id) => !added.has(id));
  if (unknown !== undefined) throw notFound("customer", unknown);
}
