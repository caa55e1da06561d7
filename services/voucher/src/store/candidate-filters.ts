import type { FilterFields } from "@scrip/filters";

import { CODE_KEY } from "./voucher-filters.ts";

/** The fields of a voucher that qualifications may filter by, over `voucher v`. */
export const candidateFilters: FilterFields = {
  named: {
    code: { type: "text", sql: "v.code", key: CODE_KEY },
    voucher_type: { type: "text", sql: "v.type" },
    campaign_id: { type: "text", sql: "v.campaign_id" },
    campaign_type: { type: "text", sql: "v.campaign_type" },
    resource_id: { type: "array", sql: "array[v.id, v.code]" },
    resource_type: { type: "text", sql: "'voucher'::text" },
    holder_role: { type: "text", sql: "(case when v.holder_id is not null then 'OWNER' end)" },
  },
};
