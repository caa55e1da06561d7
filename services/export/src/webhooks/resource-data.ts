import type { DescMessage, Message } from "@bufbuild/protobuf";
import { createEncoders } from "@scrip/contract";
import { toErrorResponse } from "@scrip/errors";
import { CampaignSchema } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CustomerProfileSchema } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { RedemptionSchema } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { VoucherSchema } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Clients } from "../clients.ts";

const encoderOf = createEncoders();

/** A resource in the form of the API, as JSON text. */
export const encode = (schema: DescMessage, message: Message): string => encoderOf(schema)(message);

/** An object whose members are JSON text. */
export const object = (members: Readonly<Record<string, string>>): string =>
  `{${Object.entries(members)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(",")}}`;

export const onlyId = (type: string, id: string): string => JSON.stringify({ object: type, id });

export const loadRedemption = ({ redemptions }: Clients, id: string, call: Call): Promise<string> =>
  orOnlyId({ type: "redemption", id, call }, async () =>
    encode(RedemptionSchema, await redemptions.getRedemption({ redemptionId: id }, call)),
  );

export const loadVoucher = ({ vouchers }: Clients, id: string, call: Call): Promise<string> =>
  orOnlyId({ type: "voucher", id, call }, async () =>
    encode(VoucherSchema, await vouchers.getVoucher({ code: id }, call)),
  );

export const loadCampaign = ({ campaigns }: Clients, id: string, call: Call): Promise<string> =>
  orOnlyId({ type: "campaign", id, call }, async () =>
    encode(CampaignSchema, await campaigns.getCampaign({ campaignId: id }, call)),
  );

export const loadCustomer = ({ customers }: Clients, id: string, call: Call): Promise<string> =>
  orOnlyId({ type: "customer", id, call }, async () =>
    encode(CustomerProfileSchema, await customers.getCustomer({ customerId: id }, call)),
  );

/** A voucher, and the customer who holds it. */
export async function loadHeldVoucher(
  clients: Clients,
  id: string,
  call: Call,
): Promise<Readonly<Record<string, string>>> {
  const voucher = await loadVoucher(clients, id, call);
  const { holder_id: holderId } = JSON.parse(voucher);
  if (typeof holderId !== "string") return { voucher };
  return { customer: await loadCustomer(clients, holderId, call), voucher };
}

type Resource = { readonly type: string; readonly id: string; readonly call: Call };

/** A resource that was deleted in the meantime is described by its id. */
async function orOnlyId(
  { type, id, call }: Resource,
  load: () => Promise<string>,
): Promise<string> {
  try {
    return await load();
  } catch (error) {
    if (toErrorResponse(error, call.requestId).error.key !== "not_found") throw error;
    return onlyId(type, id);
  }
}
