/** The steps of a release check, in order. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { changes, promises } from './document-steps.ts'
import { checkImage } from './image.ts'
import { keptVersions } from './kept-release.ts'
import { installedProgram } from './installed-program.ts'
import { licenses, sameBytes, sbom } from './package-steps.ts'
import { type Step, step } from './step.ts'
import { testFiles } from './test-files.ts'
import { Workshop } from './workshop.ts'

interface Definition {
  readonly does: string
  run(workshop: Workshop): Promise<string>
}

export const STEPS: ReadonlyMap<string, Definition> = new Map(
  Object.entries({
    changes: { does: 'CHANGELOG.md has a section of the version', run: changes },
    promises: { does: 'docs/versions.md says what a version promises', run: promises },
    package: { does: 'two builds of the package are equal byte for byte', run: sameBytes },
    sbom: { does: 'the SBOM in the package lists what npm installs', run: sbom },
    licenses: { does: 'all licences are allowed, and their texts are in the package', run: licenses },
    program: { does: "the installed package passes the demo's calls", run: installedProgram },
    upgrade: { does: 'the version takes stores and configurations of earlier ones', run: upgrade },
    schemas: { does: 'the contract keeps what the last release promised', run: schemas },
    image: { does: "the image is built, starts, and passes the demo's calls", run: image },
  }),
)

/** Runs these steps one after the other. */
export async function* runSteps(names: readonly string[]): AsyncGenerator<Step> {
  using workshop = new Workshop()
  for (const [name, { run }] of STEPS) if (names.includes(name)) yield step(name, () => run(workshop))
}

async function upgrade(workshop: Workshop): Promise<string> {
  const installed = await workshop.installation()
  const { version } = JSON.parse(readFileSync(join(installed, 'seatgate/package.json'), 'utf8'))
  const kept = keptVersions()
  if (!kept.includes(version)) throw new Error(`test/release/upgrades has no store of ${version}: ${WRITE}`)
  const earlier = kept.filter((each) => each !== version)
  const env = { SEATGATE_INSTALLED: installed }
  const result = await testFiles(workshop, 'test/release/upgrade.slow.test.ts', env)
  const from =
    earlier.length === 0
      ? `there is no earlier release; takes its own ${version}`
      : `takes ${kept.join(', ')}`
  return `${from}, with SQLite and PostgreSQL: ${result}`
}

const WRITE = 'SEATGATE_WRITE_RELEASE=VERSION npm run test:some -- test/release/upgrade.slow.test.ts'

function schemas(workshop: Workshop): Promise<string> {
  return testFiles(workshop, 'test/release/contract*.test.ts')
}

async function image(workshop: Workshop): Promise<string> {
  const { clone } = await workshop.build(0)
  return checkImage(clone)
}
