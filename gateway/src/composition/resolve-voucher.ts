import type { DescMessage } from "@bufbuild/protobuf";
import { ruleOf } from "@scrip/contract";
import type { ReferralConversion } from "@scrip/proto/scrip/common/v1/referral_conversion_pb";
import type { EventVoucher } from "@scrip/proto/scrip/loyalty/v1/custom_events_pb";
import { Reference } from "@scrip/proto/scrip/options/v1/options_pb";
import type { Call } from "@scrip/rpc";

import type { FoundVoucher } from "./clients/vouchers.ts";
import type { CompileStep, Fields, MessageFields } from "./step.ts";

/** Loyalty, which receives custom events and owns points, must not call the service that owns the codes. */
export const resolveVoucherStep: CompileStep = ({ rpc }, { vouchers, campaigns }) => {
  const parts = partsWithCode(rpc.input);
  const own = codeFieldOf(rpc.input);
  if ((parts.length === 0 && own === undefined) || vouchers === undefined) return undefined;
  const find = async (code: string, call: Call): Promise<EventVoucher> => {
    const voucher = await vouchers.find(code, call);
    const { campaignId } = voucher;
    const program =
      voucher.isReferralCode && campaignId !== undefined
        ? await campaigns?.find(call.project.id, campaignId)
        : undefined;
    return eventVoucherOf(voucher, program?.conversion);
  };
  return (next) => async (message, call) => {
    if (own !== undefined) {
      const code = (message as MessageFields)[own] as string;
      const voucher = await find(code, call);
      return next(Object.assign({}, message, { voucher }), call);
    }
    const resolved = await Promise.all(
      parts.map(async ({ part, code }): Promise<Fields> => {
        const fields = (message as MessageFields)[part] as Fields | undefined;
        const name = fields?.[code];
        if (typeof name !== "string" || name === "") return {};
        return { [part]: { ...fields, voucher: await find(name, call) } };
      }),
    );
    return next(Object.assign({}, message, ...resolved), call);
  };
};

/** The parts of a request that name a voucher, with the field that holds its code. */
const partsWithCode = (desc: DescMessage): readonly { part: string; code: string }[] =>
  desc.fields.flatMap((field) => {
    if (field.fieldKind !== "message") return [];
    const code = codeFieldOf(field.message);
    return code === undefined ? [] : [{ part: field.localName, code }];
  });

/** The field that names a voucher, as its local name. */
const codeFieldOf = (desc: DescMessage): string | undefined =>
  desc.fields.find((field) => ruleOf(field).reference === Reference.VOUCHER)?.localName;

const eventVoucherOf = (
  voucher: FoundVoucher,
  referralConversion: ReferralConversion | undefined,
): EventVoucher => ({
  $typeName: "scrip.loyalty.v1.EventVoucher",
  id: voucher.id,
  code: voucher.code,
  isLoyaltyCard: voucher.isLoyaltyCard,
  ...(voucher.campaignId !== undefined && { campaignId: voucher.campaignId }),
  ...(voucher.holderId !== undefined && { holderId: voucher.holderId }),
  isReferralCode: voucher.isReferralCode,
  ...(referralConversion !== undefined && { referralConversion }),
});
