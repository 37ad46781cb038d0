/**
 * The base images of the Dockerfile: pulled, or put together under the same names if they cannot be pulled, from packages of Debian and
 * npm's packages `node` and `npm`.
 */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { distrolessFiles, slimFiles } from '../package/slim-root.ts'
import { hasApt } from '../support/servers/apt.ts'
import type { Containers } from './containers.ts'
import { NotRun } from './step.ts'

const PATH = '--env=PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const SLIM = [PATH, '--cmd=node']
const DISTROLESS = [
  PATH,
  '--env=SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt',
  '--user=65532',
  '--workingdir=/home/nonroot',
  '--entrypoint=["/nodejs/bin/node"]',
]
/** The users of such images. */
const USERS = `root:x:0:0:root:/root:/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin
nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin
`

/** The names behind FROM, without those of the stages. */
function baseNames(dockerfile: string): string[] {
  const lines = [...dockerfile.matchAll(/^FROM (?:--\S+ )?(\S+)(?: AS (\S+))?$/gm)]
  const stages = new Set(lines.map(([, , stage]) => stage))
  return [...new Set(lines.map(([, name = '']) => name))].filter((name) => !stages.has(name))
}

/**
 * @returns the names of the images that were put together here
 * @throws NotRun if an image can be neither pulled nor put together
 */
export async function provideBases(containers: Containers, dockerfile: string): Promise<string[]> {
  const own: string[] = []
  for (const name of baseNames(dockerfile)) {
    const isPulled = await containers.buildah('pull', '--quiet', name).then(
      () => true,
      () => false,
    )
    if (isPulled) continue
    if (!hasApt()) throw new NotRun(`${name} cannot be pulled, nor put together without apt`)
    await assemble(containers, name)
    own.push(name)
  }
  return own
}

async function assemble(containers: Containers, name: string): Promise<void> {
  const slim = /^docker\.io\/library\/node:(\d+)-slim$/.exec(name)?.[1]
  const distroless = /^gcr\.io\/distroless\/nodejs(\d+)-debian\d+:nonroot$/.exec(name)?.[1]
  const id = (await containers.buildah('from', 'scratch')).trim()
  const folder = (await containers.buildah('mount', id)).trim()
  if (slim !== undefined) {
    await slimFiles(folder, { node: slim, npm: '11' })
    writeFileSync(join(folder, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/bash\n')
  } else if (distroless !== undefined) {
    await distrolessFiles(folder, distroless)
    configure(folder)
  } else throw new Error(`${name} cannot be pulled, and there are no packages for it`)
  await containers.buildah('config', ...(slim === undefined ? DISTROLESS : SLIM), id)
  await containers.buildah('commit', '--quiet', '--rm', '--format=docker', id, name)
}

/** Writes what distroless images have beside the packages. */
function configure(folder: string): void {
  writeFileSync(join(folder, 'etc/passwd'), USERS)
  mkdirSync(join(folder, 'home/nonroot'), { recursive: true })
  execFileSync('chown', ['65532:65532', join(folder, 'home/nonroot')])
  const authorities = join(folder, 'usr/share/ca-certificates/mozilla')
  const texts = readdirSync(authorities).map((each) => readFileSync(join(authorities, each), 'utf8'))
  writeFileSync(join(folder, 'etc/ssl/certs/ca-certificates.crt'), texts.join(''))
}
