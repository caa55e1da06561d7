import type { QualificationService } from "@scrip/proto/scrip/validation/v1/qualifications_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { openCandidateSource } from "../loading/candidates.ts";
import { loadQualificationContext } from "../loading/qualification-context.ts";
import { resourceQualificationFromProto } from "../mapping/qualification-input.ts";
import { listQualifyingVouchers } from "../qualification/list-qualifying-vouchers.ts";

export const qualifyVouchers =
  (deps: Deps): Handlers<typeof QualificationService>["qualifyVouchers"] =>
  async (request, call) => {
    const { input, scenario, order, limit } = resourceQualificationFromProto(request);
    const { requestContext, tracking } = await loadQualificationContext(deps, call, {
      input,
      scenario,
    });
    const source = await openCandidateSource(deps, call, {
      candidates: "vouchers",
      filters: {},
      holderId: requestContext.customer?.id,
      sessionKey: undefined,
    });
    const evaluation = { requestContext, scenario, source, matches: () => true };
    const vouchers = await listQualifyingVouchers(deps, call, { evaluation, order, limit });
    return {
      $typeName: "scrip.validation.v1.QualifyVouchersResponse",
      data: [...vouchers],
      total: BigInt(vouchers.length),
      ...(tracking !== undefined && { trackingId: tracking }),
    };
  };
