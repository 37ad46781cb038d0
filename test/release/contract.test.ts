/**
 * Nothing that the last release promised is gone or narrower. `test/release/contract/write.ts` writes the data of a
 * release before its tag.
 */

import t from 'tap'
import { WITHDRAWN } from '../../docs/generate/withdrawn.ts'
import { packageRoot, versionOf } from '../../src/config/package-version.ts'
import { breaksOf, isAtLeast } from './contract/compare.ts'
import { currentContract } from './contract/contract.ts'
import { contractOf, releases } from './contract/releases.ts'

const last = releases().at(-1) ?? ''
const version = versionOf(packageRoot())
const contract = await currentContract()

t.test(`the sources keep what ${last} promises`, async (t) => {
  t.ok(isAtLeast(version, last), `${version} is not older than ${last}`)
  for (const { name, what } of breaksOf(contractOf(last), contract, version))
    t.fail(
      `${name}: ${what}. docs/versions.md promises it until a major version drops it, after a release with a warning`,
    )
})

t.test('the contract has each part', async (t) => {
  const { configuration, api, commands, names } = contract
  t.same(Object.keys(configuration), ['gateway', 'policy', 'routes', 'seats'])
  t.ok(Object.keys(api.paths).length > 30)
  t.ok(commands.length > 40)
  t.ok(Object.keys(names.errors).length > 50)
  t.ok(Object.keys(names.metrics).length > 50)
  t.ok(names.log.length > 40 && names.events.length > 20 && names.headers.length > 7)
})

t.test('a major version drops what an earlier version withdraws', async (t) => {
  for (const { name, since, until } of WITHDRAWN) {
    t.match(until, /^\d+\.0\.0$/, name)
    t.notOk(isAtLeast(since, until), name)
  }
})
