/** A Dockerfile as far as ours needs it: its stages are made from roots, and its commands run in them. */

import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Test } from 'tap'
import { Root } from './slim-root.ts'

/** The version of npm in the images `node:24-slim`. */
const NPM = '11'

export interface Image {
  readonly root: Root
  readonly cwd: string
  readonly uid: number
  readonly env: Readonly<Record<string, string>>
  readonly volumes: readonly string[]
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly healthcheck: readonly string[]
}

/** @param context the folder of the files that COPY takes @returns the last stage */
export async function build(
  t: Test,
  dockerfile: string,
  context: string,
  args: Readonly<Record<string, string>>,
): Promise<Image> {
  const stages = new Map<string, Stage>()
  let stage: Stage | null = null
  for (const [, name = '', words = ''] of instructions(dockerfile)) {
    if (name === 'FROM') {
      const [, base = '', as = 'last'] = /^(?:--\S+ )?(\S+)(?: AS (\S+))?$/.exec(words) ?? []
      stage = await Stage.from(t, base)
      stages.set(as, stage)
    } else if (stage === null) throw new Error(`${name} before FROM`)
    else if (name === 'ARG') stage.arg(words, args)
    else if (name === 'COPY') stage.copy(words, context, stages)
    else await stage.apply(t, name, words)
  }
  if (stage === null) throw new Error('no FROM')
  return stage
}

/** Lines that end with `\` go on. */
function instructions(dockerfile: string): RegExpMatchArray[] {
  const whole = dockerfile.replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, '')
  return [...whole.matchAll(/^([A-Z]+) (.*)$/gm)]
}

class Stage implements Image {
  readonly root: Root
  readonly uid: number
  cwd = '/'
  readonly env: Record<string, string> = {}
  volumes: readonly string[] = []
  entrypoint: readonly string[] = []
  command: readonly string[] = []
  healthcheck: readonly string[] = []

  private constructor(root: Root, uid: number) {
    this.root = root
    this.uid = uid
  }

  static async from(t: Test, base: string): Promise<Stage> {
    const slim = /^node:(\d+)-slim$/.exec(base)?.[1]
    if (slim !== undefined) return new Stage(await Root.slim(t, { node: slim, npm: NPM }), 0)
    const distroless = /^gcr\.io\/distroless\/nodejs(\d+)-debian\d+:nonroot$/.exec(base)?.[1]
    if (distroless === undefined) throw new Error(`no root for ${base}`)
    return new Stage(await Root.distroless(t, distroless), 65532)
  }

  arg(words: string, given: Readonly<Record<string, string>>): void {
    const [name = '', fallback = ''] = words.split('=')
    this.env[name] = given[name] ?? fallback
  }

  copy(words: string, context: string, stages: ReadonlyMap<string, Stage>): void {
    const { from, chown } = Object.fromEntries(
      [...words.matchAll(/--(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
    )
    const paths = words.split(' ').filter((word) => !word.startsWith('--'))
    const source = from === undefined ? context : stages.get(from)?.root.folder
    if (source === undefined) throw new Error(`no stage ${from}`)
    const to = this.root.path(posix.resolve(this.cwd, paths.pop() ?? ''))
    mkdirSync(to, { recursive: true })
    for (const path of paths.flatMap((each) =>
      each.includes('*') ? globSync(join('.', each), { cwd: source }) : each,
    )) {
      const each = join(source, path)
      execFileSync('cp', ['-a', statSync(each).isDirectory() ? `${each}/.` : each, to])
    }
    if (chown !== undefined) execFileSync('chown', ['-R', chown, to])
  }

  async apply(t: Test, name: string, words: string): Promise<void> {
    const list = (text: string): string[] => JSON.parse(text.replace(/^[^[]*/, ''))
    if (name === 'RUN') await this.root.run(t, ['sh', '-c', words], this)
    else if (name === 'WORKDIR') mkdirSync(this.root.path((this.cwd = words)), { recursive: true })
    else if (name === 'ENV') {
      const [key = '', value = ''] = words.split('=')
      this.env[key] = value.replace(/^\$(\w+)$/, (_, of: string) => this.env[of] ?? '')
    } else if (name === 'VOLUME') this.volumes = [words]
    else if (name === 'HEALTHCHECK') this.healthcheck = list(words)
    else if (name === 'ENTRYPOINT') this.entrypoint = list(words)
    else if (name === 'CMD') this.command = list(words)
    else if (name !== 'EXPOSE') throw new Error(`${name} is not known`)
  }
}
