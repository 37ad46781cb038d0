/** The steps that look at the package: its bytes, its inventories and its licences. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAllowed } from '../../deploy/package/licenses.ts'
import type { Component, Sbom } from '../../deploy/package/sbom.ts'
import { installedPackages } from '../package/installed-packages.ts'
import type { Workshop } from './workshop.ts'

export async function sameBytes(workshop: Pick<Workshop, 'build'>): Promise<string> {
  const [first, second] = [await workshop.build(0), await workshop.build(1)]
  const hashes = `sha256 ${first.sha256} and ${second.sha256}, ${first.size} and ${second.size} bytes`
  assert.equal(second.sha256, first.sha256, hashes)
  return `two clones, umask 022 and 077: ${hashes}`
}

/** The SBOM names what npm has installed, and no more. */
export async function sbom(workshop: Pick<Workshop, 'installation'>): Promise<string> {
  const modules = await workshop.installation()
  const { components, metadata } = sbomIn(modules)
  const inside = components.filter(({ properties }) => properties !== undefined)
  const beside = components.filter(({ properties }) => properties === undefined)
  const own = metadata.component['bom-ref']
  const listed = [...beside.map((each) => each['bom-ref']), own].sort()
  assert.deepEqual(listed, installedPackages(modules), 'the SBOM (+) and the installation (-) differ')
  return `${beside.length} packages installed beside ${own}, ${inside.length} inside it`
}

/** Each licence is allowed, and its text is in the package. */
export async function licenses(workshop: Pick<Workshop, 'installation'>): Promise<string> {
  const modules = await workshop.installation()
  const { components } = sbomIn(modules)
  const text = readFileSync(join(modules, 'seatgate/THIRD_PARTY_LICENSES'), 'utf8')
  const counts = new Map<string, number>()
  for (const component of components) {
    const license = licenseOf(component)
    const title = `${component['bom-ref']} (${license})`
    assert.ok(isAllowed(license), `${title} is not allowed`)
    assert.ok(
      text.includes(`\n${component.name} ${component.version} (${license})\n`),
      `${title} has no text`,
    )
    counts.set(license, (counts.get(license) ?? 0) + 1)
  }
  return [...counts].map(([license, count]) => `${license} ${count}`).join(', ')
}

function sbomIn(modules: string): Sbom {
  return JSON.parse(readFileSync(join(modules, 'seatgate/sbom.cdx.json'), 'utf8'))
}

function licenseOf({ licenses: [first] }: Component): string {
  const { license, expression } = { ...first } as { license?: { id: string }; expression?: string }
  return license?.id ?? expression ?? ''
}
