/**
 * Writes the contract of the version in `package.json`, before it is released. With `--check`, only says
 * whether the data is that of the sources: exit 1 if it is not.
 *
 *   node test/release/contract/write.ts [--check]
 */

import { isDeepStrictEqual } from 'node:util'
import { packageRoot, versionOf } from '../../../src/config/package-version.ts'
import { currentContract } from './contract.ts'
import { contractOf, releases, writeContract } from './releases.ts'

const version = versionOf(packageRoot())
const contract = await currentContract()
if (!process.argv.includes('--check')) writeContract(version, contract)
else if (!releases().includes(version) || !isDeepStrictEqual(contractOf(version), contract)) {
  console.error(
    `the contract of ${version} is not that of the sources: run node test/release/contract/write.ts`,
  )
  process.exitCode = 1
}
