import { describe, expect, test } from "vitest";

import { type Json, managementApi, newCode, newProject } from "../stack/api.ts";
import { ok } from "../stack/rule-builders.ts";
import { COMPOSITIONS, sharedStack } from "../stack/stack.ts";
import { untilFinished, uploadTo } from "../stack/uploads.ts";

const UNREADABLE = "must be UTF-8 text without NUL characters";

describe.each(COMPOSITIONS)("imports of unreadable files (%s)", async (composition) => {
  const stack = await sharedStack(composition);
  const management = managementApi(stack);
  const { id: projectId, api } = await newProject(stack);

  const upload = (path: string, csv: string | Uint8Array<ArrayBuffer>) =>
    uploadTo({ url: stack.url, api }, path, { csv, headers: {} });
  const finish = async (path: string, csv: string | Uint8Array<ArrayBuffer>): Promise<Json> =>
    untilFinished(api, await upload(path, csv));

  test("fails rows that are not UTF-8 or contain NUL, and imports the others", async () => {
    const campaign = await ok(
      api.post("/v1/campaigns", {
        name: newCode("campaign"),
        campaign_type: "DISCOUNT_COUPONS",
        vouchers_count: 0,
        voucher: { discount: { type: "PERCENT", percent_off: 10 } },
      }),
    );
    const [good, nul, latin] = [newCode("good"), newCode("nul"), newCode("latin")];
    const rows = `Code,Color\n${nul},a\0b\nx\0y,red\n${latin},gr\u00FCn\n${good},red\n`;
    const action = await finish(
      `/v1/campaigns/${campaign["id"]}/importCSV`,
      new Uint8Array(Buffer.from(rows, "latin1")),
    );
    expect(action).toMatchObject({
      status: "DONE",
      processed: 1,
      result: {
        failed: [
          { row: 1, code: nul, reason: `Color: ${UNREADABLE}` },
          { row: 2, code: "x\uFFFDy", reason: `Code: ${UNREADABLE}` },
          { row: 3, code: latin, reason: `Color: ${UNREADABLE}` },
        ],
      },
    });
    expect((await api.get(`/v1/vouchers/${good}`)).body["metadata"]).toEqual({ Color: "red" });
  });

  test("fails rows with JSON that names a character which cannot be stored", async () => {
    await ok(
      management.post(`/management/v1/projects/${projectId}/metadata-schemas`, {
        related_object: "customer",
        properties: { size: { type: "object", optional: true } },
      }),
    );
    const source = newCode("ada");
    const action = await finish(
      "/v1/customers/importCSV",
      `Source_id,size\n${source}-1,"{""a"": ""\\u0000""}"\n${source}-2,"{""a"": ""b""}"\n`,
    );
    expect(action).toMatchObject({ status: "DONE", processed: 1, failed: 1 });
    expect(action["result"].failed).toMatchObject([{ row: 1, source_id: `${source}-1` }]);
  });

  test("rejects files without text, and in another encoding", async () => {
    const reject = async (csv: string | Uint8Array<ArrayBuffer>): Promise<unknown> =>
      (await upload("/v1/customers/importCSV", csv)).body["details"];
    expect(await reject("\uFEFF")).toBe("The file must have a header");
    expect(await reject("\r\n\r\n")).toBe("The file must have a header");
    const utf16 = new Uint8Array(Buffer.from("\uFEFFSource_id\nada\n", "utf16le"));
    expect(await reject(utf16)).toBe("The file must be UTF-8 text");
  });
});
