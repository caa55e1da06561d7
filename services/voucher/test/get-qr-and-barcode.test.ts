import { afterAll, describe, expect, test } from "vitest";

import { createDiscountVoucher } from "./builders.ts";
import { startTestService } from "./deps.ts";

const service = await startTestService();
afterAll(() => service[Symbol.asyncDispose]());

describe("GetQr and GetBarcode", () => {
  test("draw a voucher's code as PNG and SVG, in the requested size", async () => {
    const { assets } = await createDiscountVoucher(service);
    const id = assets?.qr?.id ?? "";
    expect(assets?.qr?.url).toBe(`/v1/assets/qr/${id}`);
    const png = await service.vouchers.getQr({ id }, service.call());
    expect(png.contentType).toBe("image/png");
    expect(Buffer.from(png.data.subarray(1, 4)).toString()).toBe("PNG");
    const large = await service.vouchers.getQr({ id, size: 100n }, service.call());
    expect(widthOf(large.data)).toBeGreaterThan(widthOf(png.data) * 3);
    const svg = await service.vouchers.getBarcode(
      { id: assets?.barcode?.id ?? "", format: "svg" },
      service.call(),
    );
    expect(svg.contentType).toBe("image/svg+xml");
    expect(Buffer.from(svg.data).toString()).toMatch(/^<svg/);
  });

  test("draw a QR code but no barcode for a code that Code 128 cannot encode", async () => {
    const { assets } = await createDiscountVoucher(service, { code: "Zürich-✓" });
    const id = assets?.qr?.id ?? "";
    expect((await service.vouchers.getQr({ id }, service.call())).data.length).toBeGreaterThan(100);
    await expect(service.vouchers.getBarcode({ id }, service.call())).rejects.toMatchObject({
      key: "invalid_code_config",
    });
  });

  test("limit the width of long codes in the largest size", async () => {
    const { assets } = await createDiscountVoucher(service, { code: "W".repeat(255) });
    const id = assets?.qr?.id ?? "";
    for (const image of [service.vouchers.getQr, service.vouchers.getBarcode]) {
      const { data } = await image({ id, size: 100n }, service.call());
      expect(widthOf(data)).toBeLessThan(4000);
    }
  });

  test("return not_found for an id that was not created with the secret", async () => {
    const { assets } = await createDiscountVoucher(service);
    const id = assets?.qr?.id ?? "";
    for (const forged of [
      "",
      "abc",
      `${id}A`,
      `${id.startsWith("A") ? "B" : "A"}${id.slice(1)}`,
      `${id.slice(0, -4)}AAAA`,
      "%%%",
    ]) {
      await expect(service.vouchers.getQr({ id: forged }, service.call())).rejects.toMatchObject({
        key: "not_found",
      });
    }
  });
});

/** Of a PNG, from its header. */
const widthOf = (png: Uint8Array): number => Buffer.from(png).readUInt32BE(16);
