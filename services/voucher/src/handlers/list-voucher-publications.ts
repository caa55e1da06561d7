import { notFound } from "@scrip/errors";
import { timeRangeConditions } from "@scrip/filters";
import type { PublicationService } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { loadPublications } from "../loading/publications.ts";
import { pageFromProto } from "../mapping/page.ts";
import { listPublications, ofVoucher } from "../store/publication-lists.ts";
import { findVoucher } from "../store/vouchers.ts";

/** Publications are many, so more pages are listed than elsewhere. */
const MAX_PAGE = 1000;

export const listVoucherPublications =
  (deps: Deps): Handler<typeof PublicationService.method.listVoucherPublications> =>
  async (request, call) => {
    const page = pageFromProto(request, { maxPage: MAX_PAGE, overMaxPage: "page_over_limit" });
    const voucher = await findVoucher(deps.db, call.project.id, request.code);
    if (voucher === undefined) throw notFound("voucher", request.code);
    const values: unknown[] = [call.project.id, voucher.definition.id];
    const { publications, total } = await listPublications(deps.db, {
      projectId: call.project.id,
      conditions: [
        ofVoucher("$2"),
        ...timeRangeConditions("p.created_at", request.createdAt, values),
      ],
      values,
      order: { by: "created_at", descending: true },
      page,
    });
    return {
      $typeName: "scrip.voucher.v1.ListPublicationsResponse",
      publications: await loadPublications(deps, publications, call),
      total,
    };
  };
