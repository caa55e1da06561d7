import { type PublishedChange, publishes } from "@scrip/idempotency";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";

import { VOUCHERS_TOPIC } from "./voucher-published.ts";

const { createVoucher, updateVoucher, enableVoucher, disableVoucher } = VoucherService.method;

/** What requests publish for webhooks. */
export const RESOURCE_CHANGES: readonly PublishedChange[] = [
  publishes(createVoucher, VOUCHERS_TOPIC, ["voucher.created"]),
  publishes(updateVoucher, VOUCHERS_TOPIC, ["voucher.updated"]),
  publishes(enableVoucher, VOUCHERS_TOPIC, ["voucher.enabled"]),
  publishes(disableVoucher, VOUCHERS_TOPIC, ["voucher.disabled"]),
];
