// Ask onnxruntime in Node: node answers.mjs CASES.json prints what every model says, as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const [path] = process.argv.slice(2);
const require = createRequire(join(process.cwd(), "package.json"));
const ort = require("onnxruntime-node");
const found = {};
for (const { name, file, rows, columns, scores } of JSON.parse(readFileSync(path, "utf-8"))) {
  const session = await ort.InferenceSession.create(join(dirname(path), file));
  const given = new ort.Tensor("float64", Float64Array.from(scores), [rows, columns]);
  const { probabilities, decision } = await session.run({ scores: given });
  found[name] = {
    probabilities: Array.from(probabilities.data),
    decision: Array.from(decision.data, (each) => (typeof each === "bigint" ? Number(each) : each)),
  };
}
console.log(JSON.stringify(found));
