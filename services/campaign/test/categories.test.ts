import { afterAll, expect, test } from "vitest";

import { givenProject, startFixture } from "./deps.ts";

const fixture = await startFixture();
afterAll(() => fixture[Symbol.asyncDispose]());
const client = fixture.categories;

test("categories are listed newest first, with the project's present as their time", async () => {
  const call = givenProject();
  await client.createCategory({ name: "Spring", hierarchy: 2n }, call);
  await client.createCategory({ name: "Summer", hierarchy: 1n }, { ...call, now: call.now + 1 });
  const { data, total } = await client.listCategories({}, call);
  expect(data.map(({ name }) => name)).toEqual(["Summer", "Spring"]);
  expect(total).toBe(2n);
  expect(data[1]?.createdAt?.seconds).toBe(BigInt(call.now / 1000));
});

test("a name is taken once in a project, and free in another", async () => {
  const call = givenProject();
  await client.createCategory({ name: "Spring", hierarchy: 1n }, call);
  await expect(
    client.createCategory({ name: "Spring", hierarchy: 5n }, call),
  ).rejects.toMatchObject({
    key: "duplicate_found",
  });
  await client.createCategory({ name: "Spring", hierarchy: 1n }, givenProject());
  const other = await client.createCategory({ name: "Autumn", hierarchy: 1n }, call);
  await expect(
    client.updateCategory({ categoryId: other.id, name: "Spring", hierarchy: 1n }, call),
  ).rejects.toMatchObject({ key: "duplicate_found" });
});

test("another project's category cannot be read, changed or deleted", async () => {
  const { id } = await client.createCategory({ name: "Mine", hierarchy: 1n }, givenProject());
  const stranger = givenProject();
  const attempts = [
    client.getCategory({ categoryId: id }, stranger),
    client.updateCategory({ categoryId: id, name: "Theirs", hierarchy: 1n }, stranger),
    client.deleteCategory({ categoryId: id }, stranger),
  ];
  await Promise.all(
    attempts.map((attempt) => expect(attempt).rejects.toMatchObject({ key: "not_found" })),
  );
});

test("a deleted category is gone and a repeat says so", async () => {
  const call = givenProject();
  const { id } = await client.createCategory({ name: "Gone", hierarchy: 1n }, call);
  await client.deleteCategory({ categoryId: id }, call);
  await expect(client.deleteCategory({ categoryId: id }, call)).rejects.toMatchObject({
    key: "not_found",
  });
});

test("a batch resolves ids and names, makes unknown names once, and answers in order", async () => {
  const call = givenProject();
  const projectId = call.project.id;
  const known = await client.createCategory({ name: "Known", hierarchy: 7n }, call);
  const queries = [
    { projectId, name: "New" },
    { projectId, id: known.id },
    { projectId, id: "cat_unknown" },
    { projectId, name: "Known" },
    { projectId, name: "New" },
  ];
  const { results: answers } = await client.resolveCategories({ queries }, call);
  const [made, ...others] = answers.map(({ category }) => category);
  expect(made).toMatchObject({ name: "New", hierarchy: 8n });
  expect(others.map((category) => category?.id)).toEqual([known.id, undefined, known.id, made?.id]);
});

test("names that are resolved at the same time become one category", async () => {
  const call = givenProject();
  const queries = [{ projectId: call.project.id, name: "Race" }];
  const all = await Promise.all(
    Array.from({ length: 20 }, () => client.resolveCategories({ queries }, call)),
  );
  expect(new Set(all.map(({ results: answers }) => answers[0]?.category?.id)).size).toBe(1);
});
