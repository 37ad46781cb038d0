/**
 * `npm run docs`: writes the generated regions of the manual, and the JSON Schemas for editors. `test/docs/generated.test.ts`
 * fails if a region differs, `test/config/schema.test.ts` if a schema does.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { everyCommand } from '../../src/cli/commands.ts'
import { generatedRegions, withRegions } from './pages.ts'
import { scrapeNewGateway } from './running.ts'
import { editorSchemas } from './schema.ts'

for (const [file, text] of editorSchemas) writeFileSync(file, text)

const regions = generatedRegions(await scrapeNewGateway(), await everyCommand())
for (const [page, ofPage] of Object.entries(regions)) {
  const file = fileURLToPath(new URL(`../${page}`, import.meta.url))
  writeFileSync(file, withRegions(readFileSync(file, 'utf8'), ofPage))
}
