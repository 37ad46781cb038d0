/** The workflows of GitHub: valid by GitHub's own parser and schema, pinned, with the least permissions, and what they run. */

import { globSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { basename } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'

// The parser is made for bundlers: it imports its schema without saying that it is JSON.
const hooks = registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    return specifier.endsWith('.min.json') ? { ...found, importAttributes: { type: 'json' } } : found
  },
})
const { NoOperationTraceWriter, parseWorkflow } = await import('@actions/workflow-parser')
hooks.deregister()

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions: unknown
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly needs?: string
        readonly permissions?: Readonly<Record<string, string>>
        readonly 'timeout-minutes'?: number
        readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> }
        readonly steps: readonly Step[]
      }
    >
  >
}

const texts = new Map(
  globSync('.github/workflows/*').map(
    (file) => [basename(file, '.yml'), readFileSync(file, 'utf8')] as const,
  ),
)

function workflow(name: string): Workflow {
  return parse(texts.get(name) ?? '') as Workflow
}

function faults(text: string): string[] {
  const { context } = parseWorkflow({ name: 'workflow.yml', content: text }, new NoOperationTraceWriter())
  return context.errors.getErrors().map(({ message }) => message)
}

t.test("each is valid by GitHub's schema", async (t) => {
  t.same([...texts.keys()].sort(), ['ci', 'nightly', 'release'])
  for (const [name, text] of texts) t.same(faults(text), [], name)
})

t.test("GitHub's schema finds faults", async (t) => {
  const text = texts.get('ci') ?? ''
  for (const [was, is] of [
    ['contents: read', 'contents: all'],
    ['timeout-minutes: 20', 'timeout: 20'],
    ['runs-on:', 'runs:'],
    ['matrix.node', 'matrix.node +'],
  ] as const)
    t.not(faults(text.replace(was, is)).length, 0, is)
})

t.test('actions are pinned by digest, with their version', async (t) => {
  for (const [name, text] of texts)
    for (const [line] of text.matchAll(/uses:.*/g))
      t.match(line, /^uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, name)
})

t.test('a job gets what it needs: reading, and for a release to publish one thing', async (t) => {
  const more: Record<string, unknown> = {}
  for (const name of texts.keys()) {
    const { permissions, jobs } = workflow(name)
    t.same(permissions, { contents: 'read' }, name)
    for (const [job, { permissions: own, steps, 'timeout-minutes': minutes = 0 }] of Object.entries(jobs)) {
      if (own !== undefined) more[`${name} ${job}`] = own
      t.ok(minutes > 0 && minutes <= 60, `${name} ${job} ends`)
      const checkout = steps.find(({ uses }) => uses?.startsWith('actions/checkout@'))
      t.equal(checkout?.with?.['persist-credentials'], false, `${name} ${job} leaves no token in the clone`)
    }
  }
  t.same(more, {
    'release package': { contents: 'read', 'id-token': 'write' },
    'release image': { contents: 'read', packages: 'write' },
  })
})

t.test('no expression is put into a command, where its value would be code', async (t) => {
  for (const name of texts.keys())
    for (const { steps } of Object.values(workflow(name).jobs))
      for (const { run = '' } of steps) t.notMatch(run, '${{', name)
})

t.test('ci runs what decides, on the oldest and the newest Node.js of a clone', async (t) => {
  const { on, jobs } = workflow('ci')
  t.ok('pull_request' in on)
  t.notOk('pull_request_target' in on, 'which has secrets')
  t.equal(jobs['test']?.steps.at(-1)?.run, '.ci/run')
  t.match(readFileSync('.ci/run', 'utf8'), /^npm cit$/m)
  const [oldest, newest] = jobs['test']?.strategy?.matrix['node'] ?? []
  const [, documented] =
    /^Node\.js (\d+) or later with npm/m.exec(readFileSync('CONTRIBUTING.md', 'utf8')) ?? []
  t.same([oldest, newest], [documented, 'latest'])
})

t.test('the nightly run is the full tests, three times, the coverage, and new schedules', async (t) => {
  const { jobs } = workflow('nightly')
  t.match(jobs['test']?.steps.at(-1), { run: 'npm run test:full', env: { SEATGATE_THOROUGH: 1 } })
  t.same(jobs['test']?.strategy?.matrix, { round: [1, 2, 3] })
  t.equal(jobs['coverage']?.steps.at(-1)?.run, 'npm run test:coverage')
  t.equal(jobs['soak']?.steps.at(-1)?.run, 'npm run test:soak -- --minutes 50')
})

t.test(
  'a release is tested and checked first; its image is for two architectures and has an SBOM',
  async (t) => {
    const { on, jobs } = workflow('release')
    t.same(on, { push: { tags: ['v[0-9]+.[0-9]+.[0-9]+'] } })
    t.equal(jobs['test']?.steps.at(-1)?.run, '.ci/run')
    t.same([jobs['check']?.needs, jobs['package']?.needs, jobs['image']?.needs], ['test', 'check', 'check'])
    const check = jobs['check']?.steps.map(({ run = '' }) => run) ?? []
    t.match(check.at(-1), /npm run release:check -- --strict$/)
    t.ok(
      check.some((run) => run.includes('buildah podman runc')),
      'nothing is left out for lack of a program',
    )
    const packed = jobs['package']?.steps ?? []
    t.match(
      packed.at(-1)?.run,
      /^npm publish --provenance --access public .*\.tgz$/,
      'the file, not the folder',
    )
    t.match(packed.at(-2), { with: { name: 'sbom', path: /sbom\.cdx\.json$/ } })
    const build = jobs['image']?.steps.at(-1)?.with
    t.match(build, { platforms: 'linux/amd64,linux/arm64', sbom: true, provenance: 'mode=max', push: true })
  },
)
