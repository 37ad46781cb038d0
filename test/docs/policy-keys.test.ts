/** The manual names each key of a policy file, and of a file of Seats. */

import { readFileSync } from 'node:fs'
import t from 'tap'

const PAGES = { policy: 'docs/access.md', seats: 'docs/administration.md' }

const fileOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** Names of the properties of a schema and of all schemas in it. */
function keysOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const own = 'properties' in schema ? Object.keys(schema.properties ?? {}) : []
  return [...own, ...Object.values(schema).flatMap(keysOf)]
}

for (const [name, page] of Object.entries(PAGES))
  t.test(`${name}: ${page}`, async (t) => {
    const schema = JSON.parse(fileOf(`src/config/${name}.schema.json`))
    const text = fileOf(page)
    const unnamed = new Set(keysOf(schema).filter((key) => !new RegExp(`[\`{ \\n-]${key}[:\`]`).test(text)))
    t.same([...unnamed], [])
  })
