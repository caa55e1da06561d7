import type { CodeConfig } from "@scrip/codes";
import { invalidPayload, notFound } from "@scrip/errors";
import type {
  CreateVoucherRequest,
  VoucherService,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { type Call, type Handler, takeId } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { newUsage } from "../store/voucher-writes.ts";
import { draftOf, insertUnderCode, maskOf } from "./new-voucher.ts";
import { toVoucher } from "./voucher-message.ts";

export const createVoucher =
  (deps: Deps): Handler<typeof VoucherService.method.createVoucher> =>
  async (request, call) => {
    refuseUnknown(request);
    const id = takeId(request, call, () => deps.newId("v"));
    const draft = draftOf(request, call, { id, campaign: null, activityDuration: null });
    const mask = () =>
      maskOf(request.codeConfig, {
        standing: codeConfigOf(call),
        caseSensitive: call.project.caseSensitiveCodes,
      });
    const made = await insertUnderCode(deps.db, deps, { request, call, draft, mask });
    return toVoucher({ definition: made.definition, usage: newUsage(made) });
  };

/** Vouchers of campaigns are made through their campaigns, which the callers of this are not. */
function refuseUnknown(request: CreateVoucherRequest): void {
  const { campaign, campaignId, category, categoryId } = request;
  const wanted = campaignId ?? campaign;
  if (wanted !== undefined) throw notFound("campaign", wanted);
  // The gateway has turned names into ids; a gRPC caller sends the id.
  if (category !== undefined && categoryId === undefined) {
    throw invalidPayload("Property .category must be .category_id here");
  }
}

const codeConfigOf = ({ project }: Call): CodeConfig =>
  project.codeConfig === undefined ? {} : (JSON.parse(project.codeConfig) as CodeConfig);
