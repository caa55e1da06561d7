import { type Api, managementApi, newProject, serverApi, type StackAccess } from "../stack/api.ts";

export type HeavySize = {
  readonly redeemables: number;
  readonly lines: number;
  readonly expand?: readonly string[];
};

/** A validation of many vouchers on a long order, in a project whose limits allow it. */
export async function heavyRequest(
  stack: StackAccess,
  { redeemables, lines, expand = [] }: HeavySize,
): Promise<string> {
  const { id, api } = await newProject(stack);
  await expectOk(
    managementApi(stack).post(`/management/v1/projects/${id}/stacking-rules`, {
      applicable_redeemables_limit: 30,
      applicable_redeemables_per_category_limit: 30,
    }),
  );
  for (let index = 0; index < redeemables; index += 1) {
    await expectOk(
      api.post("/v1/vouchers", {
        code: `HEAVY-${index}`,
        type: "DISCOUNT_VOUCHER",
        discount: { type: "PERCENT", percent_off: 1 },
      }),
    );
  }
  return rawRequest(api, "/v1/validations", {
    redeemables: Array.from({ length: redeemables }, (_, index) => ({
      object: "voucher",
      id: `HEAVY-${index}`,
    })),
    options: { expand },
    order: {
      items: Array.from({ length: lines }, (_, line) => ({
        product_id: `prod_${line}`,
        quantity: 1,
        price: 1_999,
      })),
    },
  });
}

export async function lightRequest(stack: StackAccess): Promise<string> {
  const api = await serverApi(stack);
  await expectOk(
    api.post("/v1/vouchers", {
      code: "LIGHT",
      type: "DISCOUNT_VOUCHER",
      discount: { type: "PERCENT", percent_off: 10 },
    }),
  );
  return rawRequest(api, "/v1/vouchers/LIGHT/validate", { order: { amount: 10_000 } });
}

async function expectOk(response: ReturnType<Api["post"]>): Promise<void> {
  const { status, text } = await response;
  if (status !== 200) throw new Error(text);
}

function rawRequest({ headers }: Api, route: string, body: object): string {
  const text = JSON.stringify(body);
  const lines = Object.entries({
    host: "localhost",
    ...headers,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${route} HTTP/1.1\r\n${lines.join("")}\r\n${text}`;
}
