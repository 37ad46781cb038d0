/** `npm run docs`: writes the generated regions of the manual. `test/docs/generated.test.ts` fails where one differs. */

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { everyCommand } from '../../src/cli/commands.ts'
import { generatedRegions, withRegions } from './pages.ts'
import { scrapeNewGateway } from './running.ts'

const regions = generatedRegions(await scrapeNewGateway(), await everyCommand())
for (const [page, ofPage] of Object.entries(regions)) {
  const file = fileURLToPath(new URL(`../${page}`, import.meta.url))
  writeFileSync(file, withRegions(readFileSync(file, 'utf8'), ofPage))
}
