import { fromBinary } from "@bufbuild/protobuf";
import { VoucherDeletedSchema } from "@scrip/proto/scrip/events/v1/vouchers_pb";
import { afterAll, expect, test } from "vitest";

import { VOUCHERS_TOPIC } from "../src/events/voucher-published.ts";
import { givenDiscount, NOON, startFixture } from "./fixture.ts";

const fixture = await startFixture();
afterAll(() => fixture[Symbol.asyncDispose]());

test("DeleteVoucher emits one event, also when the code is freed later", async () => {
  const { id, code } = await givenDiscount(fixture);
  await fixture.vouchers.deleteVoucher({ code }, fixture.call());
  await fixture.vouchers.deleteVoucher({ code, force: true }, fixture.call());
  const { rows } = await fixture.db.query<{ topic: string; type: string; payload: Buffer }>(
    "select topic, type, payload from outbox where key = $1",
    [id],
  );
  expect(rows).toMatchObject([{ topic: VOUCHERS_TOPIC, type: VoucherDeletedSchema.typeName }]);
  expect(rows.map(({ payload }) => fromBinary(VoucherDeletedSchema, payload))).toMatchObject([
    { projectId: fixture.projectId, voucherId: id, date: { seconds: BigInt(NOON / 1000) } },
  ]);
});
