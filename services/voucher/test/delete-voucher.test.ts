import { fromBinary } from "@bufbuild/protobuf";
import {
  VoucherDeletedSchema,
  VoucherPurgedSchema,
} from "@scrip/proto/scrip/events/v1/vouchers_pb";
import { afterAll, describe, expect, test } from "vitest";

import { VOUCHERS_TOPIC } from "../src/events/voucher-published.ts";
import { createDiscountVoucher } from "./builders.ts";
import { NOON, startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

describe("DeleteVoucher", () => {
  test("hides a deleted voucher everywhere, and frees its code with force", async () => {
    const voucher = await createDiscountVoucher(service);
    const { code } = voucher;
    const load = async () =>
      (
        await service.redemptions.loadVouchers(
          { queries: [{ projectId: service.projectId, codes: [code, voucher.id] }] },
          service.call(),
        )
      ).results[0]?.vouchers.map((one) => one.voucher?.id);
    expect(await load()).toEqual([voucher.id, voucher.id]);

    await service.vouchers.deleteVoucher({ code, force: true }, service.call());

    expect(await load()).toEqual([undefined, undefined]);
    for (const request of [
      () => service.vouchers.getVoucher({ code }, service.call()),
      () => service.vouchers.enableVoucher({ code }, service.call()),
      () => service.vouchers.deleteVoucher({ code }, service.call()),
      () => service.redemptions.listVoucherRedemptions({ code }, service.call()),
    ]) {
      await expect(request()).rejects.toMatchObject({ key: "not_found" });
    }
    const again = await createDiscountVoucher(service, { code });
    expect(await load()).toEqual([again.id, undefined]);
  });

  test("emits one event of the deletion, and another when the code is freed later", async () => {
    const { id, code } = await createDiscountVoucher(service);
    await service.vouchers.deleteVoucher({ code }, service.call());
    await service.vouchers.deleteVoucher({ code, force: true }, service.call());
    const { rows } = await service.db.query<{ topic: string; type: string; payload: Buffer }>(
      "select topic, type, payload from outbox where key = $1 order by created_at, id",
      [id],
    );
    expect(rows).toMatchObject([
      { topic: VOUCHERS_TOPIC, type: VoucherDeletedSchema.typeName },
      { topic: VOUCHERS_TOPIC, type: VoucherPurgedSchema.typeName },
    ]);
    const [deleted, purged] = rows.map(({ payload }) => payload);
    const { projectId } = service;
    expect(fromBinary(VoucherDeletedSchema, deleted!)).toMatchObject({
      projectId,
      voucherId: id,
      code,
      permanent: false,
      date: { seconds: BigInt(NOON / 1000) },
    });
    expect(fromBinary(VoucherPurgedSchema, purged!)).toMatchObject({ projectId, voucherId: id });
  });
});
