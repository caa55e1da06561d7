import { CardService } from "@scrip/proto/scrip/loyalty/v1/cards_pb";
import { VoucherService } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, expect, test } from "vitest";

import { gatewayTokens, serveVouchers } from "../../test/voucher-server.ts";
import { generateServiceKey } from "../auth/service-token.ts";
import { createServiceTransport } from "../transport/grpc-transport.ts";
import { serviceCall } from "./call.ts";
import { clientOf } from "./client.ts";
import { orIfUnimplemented } from "./unimplemented.ts";

const keys = await generateServiceKey();
const getVoucher = (): Promise<never> => Promise.reject(new Error("broken"));
const server = await serveVouchers({ keys, handlers: { getVoucher } });
afterAll(() => server[Symbol.asyncDispose]());
const transport = createServiceTransport({
  baseUrl: server.url,
  audience: "voucher",
  token: gatewayTokens(keys),
});
afterAll(() => transport[Symbol.dispose]());

test("a service without an RPC leaves its caller the value of earlier releases", async () => {
  const cards = clientOf(CardService, transport);
  const call = serviceCall();
  expect(await orIfUnimplemented(cards.hasChangedCards({}, call), "earlier")).toBe("earlier");
  const names = cards.openCardSnapshot({}, call)[Symbol.asyncIterator]();
  expect(await orIfUnimplemented(names.next(), "earlier")).toBe("earlier");
});

test("other failures of a service reach its caller", async () => {
  const vouchers = clientOf(VoucherService, transport);
  const response = vouchers.getVoucher({ code: "A" }, serviceCall());
  await expect(orIfUnimplemented(response, "earlier")).rejects.toThrow("Internal error");
});
