import type { QualificationService } from "@scrip/proto/scrip/validation/v1/qualifications_pb";
import type { Handlers } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { loadQualificationContext } from "../loading/qualification-context.ts";
import { resourceQualificationFromProto } from "../mapping/qualification-input.ts";
import { listQualifyingCampaigns } from "../qualification/list-qualifying-campaigns.ts";

export const qualifyCampaigns =
  (deps: Deps): Handlers<typeof QualificationService>["qualifyCampaigns"] =>
  async (request, call) => {
    const { input, scenario, order, limit } = resourceQualificationFromProto(request);
    const { requestContext, tracking } = await loadQualificationContext(deps, call, {
      input,
      scenario,
    });
    const evaluation = { requestContext, scenario, matches: () => true };
    const campaigns = await listQualifyingCampaigns(deps, call, { evaluation, order, limit });
    return {
      $typeName: "scrip.validation.v1.QualifyCampaignsResponse",
      data: [...campaigns],
      total: BigInt(campaigns.length),
      ...(tracking !== undefined && { trackingId: tracking }),
    };
  };
