import type { DescMessage, Message } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { createEncoders } from "@scrip/contract";
import { toErrorResponse } from "@scrip/errors";
import { CampaignSchema } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { CustomerProfileSchema } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import { PublicationSchema } from "@scrip/proto/scrip/voucher/v1/publications_pb";
import { RedemptionSchema } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import { CardTransactionSchema } from "@scrip/proto/scrip/voucher/v1/transactions_pb";
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

export const idOnlyJson = (type: string, id: string): string =>
  JSON.stringify({ object: type, id });

export const loadRedemption = ({ redemptions }: Clients, id: string, call: Call): Promise<string> =>
  orIdOnly({ type: "redemption", id, call }, async () =>
    encode(RedemptionSchema, await redemptions.getRedemption({ redemptionId: id }, call)),
  );

export const loadVoucher = ({ vouchers }: Clients, id: string, call: Call): Promise<string> =>
  orIdOnly({ type: "voucher", id, call }, async () =>
    encode(VoucherSchema, await vouchers.getVoucher({ code: id }, call)),
  );

export const loadCampaign = ({ campaigns }: Clients, id: string, call: Call): Promise<string> =>
  orIdOnly({ type: "campaign", id, call }, async () =>
    encode(CampaignSchema, await campaigns.getCampaign({ campaignId: id }, call)),
  );

export const loadCustomer = ({ customers }: Clients, id: string, call: Call): Promise<string> =>
  orIdOnly({ type: "customer", id, call }, async () =>
    encode(CustomerProfileSchema, await customers.getCustomer({ customerId: id }, call)),
  );

/** The members that the event has, and those of the API as long as the voucher exists. */
export async function loadPublication(
  { holdings }: Clients,
  event: EventResource,
  call: Call,
): Promise<string> {
  const { publications } =
    (await undefinedIfDeleted(call, () =>
      holdings.listVoucherPublications(
        { code: event.voucherId, limit: 100n, createdAt: around(event.date) },
        call,
      ),
    )) ?? NOTHING;
  const found = publications?.find(({ id }) => id === event.id);
  return merged(event.members, found && encode(PublicationSchema, found));
}

/** The members that the event has, and those of the API as long as the voucher exists. */
export async function loadTransaction(
  { transactions }: Clients,
  event: EventResource,
  call: Call,
): Promise<string> {
  const { data } =
    (await undefinedIfDeleted(call, () =>
      transactions.listCardTransactions(
        { code: event.voucherId, filters: { id: { conditions: { $is: [event.id] } } } },
        call,
      ),
    )) ?? NOTHING;
  const [found] = data ?? [];
  return merged(event.members, found && encode(CardTransactionSchema, found));
}

/** A publication or a transaction, of which an event has some members. */
export type EventResource = {
  readonly id: string;
  readonly voucherId: string;
  readonly date: Date | undefined;
  readonly members: Readonly<Record<string, unknown>>;
};

const NOTHING: { readonly publications?: undefined; readonly data?: undefined } = {};

/** Bounds of ranges are exclusive. */
const around = (date: Date | undefined) =>
  date && {
    after: timestampFromMs(date.getTime() - 1),
    before: timestampFromMs(date.getTime() + 1),
  };

const merged = (members: EventResource["members"], resource: string | undefined): string =>
  JSON.stringify(resource === undefined ? members : { ...members, ...JSON.parse(resource) });

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
async function orIdOnly(
  { type, id, call }: Resource,
  load: () => Promise<string>,
): Promise<string> {
  return (await undefinedIfDeleted(call, load)) ?? idOnlyJson(type, id);
}

/** Undefined if the resource was deleted in the meantime. */
export async function undefinedIfDeleted<Result>(
  call: Call,
  load: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await load();
  } catch (error) {
    if (toErrorResponse(error, call.requestId).error.key !== "not_found") throw error;
    return undefined;
  }
}
