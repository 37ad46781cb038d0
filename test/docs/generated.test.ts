/** Generated regions of the manual are what `npm run docs` writes, and leave out nothing. */

import t from 'tap'
import { ANSWER_TYPES, answerTypes } from '../../docs/generate/answer-types.ts'
import { LABELS, metricsOf } from '../../docs/generate/metrics.ts'
import { generatedRegions, withRegions } from '../../docs/generate/pages.ts'
import { scrapeNewGateway } from '../../docs/generate/running.ts'
import { everyCommand } from '../../src/cli/commands.ts'
import { textOf } from './pages.ts'

const exposition = await scrapeNewGateway()

t.test('no region differs', async (t) => {
  for (const [name, regions] of Object.entries(generatedRegions(exposition, await everyCommand()))) {
    const page = `docs/${name}`
    const text = textOf(page)
    for (const [region, content] of Object.entries(regions))
      t.equal(withRegions(text, { [region]: content }), text, `${page}, ${region}: run "npm run docs"`)
  }
})

t.test('the types of answers are those of the document', async (t) => {
  t.equal(textOf(ANSWER_TYPES), answerTypes(), `${ANSWER_TYPES}: run "npm run docs"`)
})

t.test('every setting has a meaning and an example, unless it is a map', async (t) => {
  const rows = textOf('docs/configuration.md').match(/^\| `.*$/gm) ?? []
  t.ok(rows.length > 80, `${rows.length} settings`)
  for (const row of rows) {
    const [, key, type, fallback, example, meaning] = row.split(/(?<!\\)\|/).map((cell) => cell.trim())
    t.ok(key && type && fallback && meaning, row)
    t.ok(example || type?.endsWith('map'), `${key} has an example`)
  }
})

t.test('labels belong to metrics that exist', async (t) => {
  const names = new Set(metricsOf(exposition).map(({ name }) => name))
  for (const name of Object.keys(LABELS)) t.ok(names.has(name), name)
})
