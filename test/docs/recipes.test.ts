/** The recipes of CONTRIBUTING name each place that the latest addition of their kind has. */

import { globSync, readFileSync } from 'node:fs'
import t from 'tap'
import { AUTH_METHODS } from '../../src/model/principal.ts'
import { root, textOf } from './pages.ts'

/** By recipe: what only the places of one addition have. Commands that call the gateway as clients are no such places. */
const ADDITIONS: Readonly<Record<string, RegExp>> = {
  'An authentication method': /'x-api-key'|otherIssuer\??:|AUTH_METHODS = /,
  'A stage': /\bgrantPreflight\b/,
  'An endpoint': /\bblockEndpoints\b|\bblockWriter\b|\bdeleteBlock\b|\bexplainEndpoint\b/,
  'A log field': /\bspace_by\b/,
  'A rate-limit key': /\bRateLimitBy\b|per === 'address'/,
  'A store driver': /\/postgres-store\.ts'|kind(?: ===|:) 'postgres'|\bpostgresFinding\b/,
}

/** The text of each recipe, by its heading. */
const recipes = new Map(
  (/^## Recipes$([\s\S]*?)^## /m.exec(textOf('CONTRIBUTING.md'))?.[1] ?? '')
    .split(/^### /m)
    .slice(1)
    .map((recipe) => [recipe.slice(0, recipe.indexOf('\n')), recipe]),
)

const files = globSync('{src,seats-admin}/**/*.ts', { cwd: root }).filter(
  (file) => !file.startsWith('src/cli/'),
)

t.test('each recipe has an addition that it is compared with', async (t) => {
  t.strictSame([...recipes.keys()], Object.keys(ADDITIONS))
})

for (const [title, addition] of Object.entries(ADDITIONS))
  t.test(title, async (t) => {
    const recipe = recipes.get(title) ?? ''
    const places = [...recipe.matchAll(/`([\w-]+\/[\w./-]*)`/g)].map(([, place = '']) => place)
    const isNamed = (file: string) =>
      places.some((each) => each === file || (each.endsWith('/') && file.startsWith(each)))
    const touched = files.filter((file) => addition.test(readFileSync(root + file, 'utf8')))
    t.ok(touched.length > 1, 'the addition is found')
    for (const file of touched) t.ok(isNamed(file), `${file} is in the recipe`)
    t.ok((recipe.match(/^\d\. /gm) ?? []).length <= 8, 'it is short')
  })

t.test('the manual names every authentication method', async (t) => {
  const rows = {
    'docs/routes.md': /^\| `x-seatgate-auth` .*$/m,
    'docs/signed-identity.md': /^\| `auth` .*$/m,
  }
  for (const [page, row] of Object.entries(rows)) {
    const named = [...(row.exec(textOf(page))?.[0] ?? '').matchAll(/`([a-z-]+)`/g)].map(
      ([, name = '']) => name,
    )
    t.strictSame(named.slice(1), [...AUTH_METHODS], page)
  }
})
