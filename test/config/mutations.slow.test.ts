/** Files truncated, duplicated and mixed with YAML syntax: always a configuration or errors, never an exception. */

import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { formatFault } from '../../src/config/faults.ts'
import { Folder } from './support.ts'

const MAIN = readFileSync('gateway.config.yaml', 'utf8')
const TABLE = readFileSync('routes/trainings.yaml', 'utf8')
const SYNTAX = [
  '{',
  '}',
  '[',
  ']',
  ':',
  ': ',
  '- ',
  '? ',
  '*',
  '&a ',
  '*a',
  '!',
  '!!map ',
  '|',
  '>',
  '"',
  "'",
  '\n',
  '\t',
  '  ',
]
const SNIPPETS = [
  '#',
  ' #',
  '%',
  '@',
  '`',
  ',',
  '${',
  '}',
  '$${',
  '<<: ',
  '---\n',
  '...\n',
  '\0',
  '\r',
  '\ufeff',
  '~',
  '0',
  '__proto__: ',
]

const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  cut: fc.oneof(fc.constant(0), fc.nat(40)),
  insert: fc.oneof(fc.constantFrom(...SYNTAX, ...SNIPPETS), fc.string({ unit: 'binary', maxLength: 8 })),
})

function mutate(text: string, all: readonly { at: number; cut: number; insert: string }[]): string {
  return all.reduce((now, { at, cut, insert }) => {
    const start = Math.floor(at * now.length)
    return now.slice(0, start) + insert + now.slice(start + cut)
  }, text)
}

t.test('never an exception, each error on one line with a position, no secret', async (t) => {
  const folder = new Folder(t)
  const env = { ACME_TOKEN_SECRET: 'hunter2-hunter2-hunter2-hunter2-hunter2' }
  const whole = fc.constant<{ at: number; cut: number; insert: string }[]>([])
  const some = fc.array(mutation, { minLength: 1, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(fc.oneof(whole, some), fc.oneof(whole, some), async (main, table) => {
      folder.write({ 'gateway.config.yaml': mutate(MAIN, main), 'routes/a.yaml': mutate(TABLE, table) })
      const { config, faults } = await folder.load(env)
      const lines = faults.map(formatFault)
      if ((config === null) !== lines.length > 0) throw new Error('neither configuration nor faults, or both')
      for (const line of lines) {
        if (!/^[^:]+:[1-9]\d*:[1-9]\d*: [^\n\r]+$/.test(line)) throw new Error(line)
        if (line.includes('hunter2')) throw new Error(line)
      }
    }),
    { numRuns: 250 },
  )
})
