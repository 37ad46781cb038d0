/**
 * `npm run docs`: writes the generated regions of the manual, the JSON Schemas for editors and the types of the answers for the
 * console. `test/docs/generated.test.ts` fails if a region or a type differs, `test/config/schema.test.ts` if a schema does.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { everyCommand } from '../../src/cli/commands.ts'
import { ANSWER_TYPES, answerTypes } from './answer-types.ts'
import { generatedRegions, withRegions } from './pages.ts'
import { scrapeNewGateway } from './running.ts'
import { editorSchemas } from './schema.ts'

for (const [file, text] of editorSchemas) writeFileSync(file, text)

const regions = generatedRegions(await scrapeNewGateway(), await everyCommand())
for (const [page, ofPage] of Object.entries(regions)) {
  const file = fileURLToPath(new URL(`../${page}`, import.meta.url))
  writeFileSync(file, withRegions(readFileSync(file, 'utf8'), ofPage))
}
writeFileSync(fileURLToPath(new URL(`../../${ANSWER_TYPES}`, import.meta.url)), answerTypes())
