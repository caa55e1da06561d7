import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdateVoucherRequestSchema,
  Voucher,
} from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import { afterAll, describe, expect, test } from "vitest";

import {
  commandOf,
  createCommit,
  createDiscountVoucher,
  committedRedemptions,
} from "./builders.ts";
import { startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());
const commit = createCommit(service);

type UpdateInit = MessageInitShape<typeof UpdateVoucherRequestSchema>;
type Edit = Omit<Exclude<UpdateInit, { $typeName: string }>, "$typeName">;

const edit = (voucher: Voucher, change: Edit, ...paths: string[]) =>
  service.vouchers.updateVoucher(
    { code: voucher.code, updateMask: { paths }, ...change },
    service.call(),
  );

const load = (voucher: Voucher) =>
  service.redemptions.loadVouchers(
    { queries: [{ projectId: service.projectId, codes: [voucher.code] }] },
    service.call(),
  );

/** A voucher that the service has cached, and a command that was decided on that version. */
async function createDecision() {
  const voucher = await createDiscountVoucher(service, { metadata: { season: "winter" } });
  await load(voucher);
  return { voucher, command: commandOf(service, [{ voucher }]) };
}

describe("a command that was decided before an edit of its voucher", () => {
  test("is committed when the edit does not affect decisions, and returns the new definition", async () => {
    const { voucher, command } = await createDecision();
    await edit(voucher, { additionalInfo: "new" }, "additional_info");
    const [first] = committedRedemptions((await commit(command))[0]);
    expect(first?.voucher).toMatchObject({ additionalInfo: "new" });

    await edit(voucher, { additionalInfo: "newer" }, "additional_info");
    await load(voucher);
    const [second] = committedRedemptions((await commit({ ...command, requestId: "v-2" }))[0]);
    expect(second?.voucher).toMatchObject({
      additionalInfo: "newer",
      redemption: { redeemedQuantity: 2n },
    });
  });

  test("obeys a quantity that was set since", async () => {
    const { voucher, command } = await createDecision();
    await edit(voucher, { redemption: { quantity: 0n } }, "redemption");
    const [outcome] = await commit(command);
    expect(outcome?.outcome).toMatchObject({
      case: "rejected",
      value: { key: "quantity_exceeded" },
    });
  });

  test.each<[string, Edit]>([
    ["metadata", { metadata: { season: "summer" } }],
    ["active", { active: false }],
    ["category_id", { categoryId: "cat_1" }],
    ["expiration_date", { expirationDate: { seconds: 4_000_000_000n, nanos: 0 } }],
  ])("is stale when %s changed", async (path, change) => {
    const { voucher, command } = await createDecision();
    await edit(voucher, change, path);
    expect((await commit(command))[0]?.outcome.case).toBe("stale");
  });

  test("is stale when the old definition is no longer cached", async () => {
    const { voucher, command } = await createDecision();
    await edit(voucher, { additionalInfo: "new" }, "additional_info");
    const [outcome] = await createCommit(service, service.replica())(command);
    expect(outcome?.outcome.case).toBe("stale");
  });

  test("is committed when the edit was undone", async () => {
    const { voucher, command } = await createDecision();
    await service.vouchers.disableVoucher({ code: voucher.code }, service.call());
    await service.vouchers.enableVoucher({ code: voucher.code }, service.call());
    expect(committedRedemptions((await commit(command))[0])).toHaveLength(1);
  });
});
