/** The rendered chart: its objects fit together, and the gateway loads its configuration as a pod would. */

import { join } from 'node:path'
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { readPem } from '../../seats-admin/model/pem-text.ts'
import { loadWithTables } from '../../src/cli/load-tables.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { root } from '../docs/pages.ts'
import { MUCH, VALUES } from './chart.ts'
import { faultsOf } from './kubernetes.ts'
import { cannotRender, type Render, renderer, type KubernetesObject } from './render/render.ts'

const ENVIRONMENT = {
  SEATGATE_STORE: 'postgres://seatgate:x@db/seatgate',
  SEATGATE_REDIS: 'redis://cache:6379',
  ACME_TOKEN_SECRET: 'x'.repeat(32),
}

t.test('chart', { skip: cannotRender }, async (t) => {
  const render: Render = await renderer(t, 'seatgate')
  const objects = render(VALUES)

  t.test('its objects', async (t) => {
    const kinds = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()
    t.same(kinds, [
      'ConfigMap seatgate',
      'Deployment seatgate',
      'NetworkPolicy seatgate',
      'PodDisruptionBudget seatgate',
      'Service seatgate',
      'Service seatgate-ops',
      'ServiceAccount seatgate',
    ])
    for (const { apiVersion, metadata } of objects) {
      t.ok(apiVersion)
      t.match(metadata.labels, { 'app.kubernetes.io/name': 'seatgate', 'app.kubernetes.io/version': '1.0.0' })
    }
  })

  t.test('Kubernetes accepts its objects', async (t) => {
    const wrong = objects.map((object) => structuredClone(object))
    const pod = podOf(wrong).spec as { containers: Record<string, unknown>[]; restartPolicy?: number }
    pod.restartPolicy = 1
    for (const container of pod.containers) container['readynessProbe'] = {}
    // At once: the compiler takes seconds to load the types.
    const faults = await faultsOf([...objects, ...render(MUCH), ...wrong])
    t.match(faults, [
      'Deployment: data/spec/template/spec/restartPolicy must be string',
      `'"readynessProbe"' does not exist in type 'IContainer'`,
      `Type 'number' is not assignable to type '"Always"`,
    ])
    t.equal(faults.length, 3, 'those of the wrong one')
  })

  t.test('its configuration', async (t) => {
    for (const values of [VALUES, MUCH, { ...VALUES, redis: false, drain: 90, drainDelay: 0 }]) {
      const rendered = render(values)
      const map = rendered.find(({ kind }) => kind === 'ConfigMap')
      const folder = mounted(t, map?.data ?? {})
      const { config, table } = await loadWithTables(join(folder, 'gateway.config.yaml'), ENVIRONMENT)
      t.ok(table.routes.some(({ id }) => id === 'GET /v1/trainings'))
      const grace = Number(podOf(rendered, map?.metadata.name).spec['terminationGracePeriodSeconds'])
      t.equal(
        grace * 1000,
        config.drainDelay + config.drain + 15_000,
        'the pod may take as long as the drain',
      )
    }
  })

  t.test('the pod', async (t) => {
    const { spec } = podOf(objects)
    t.match(spec, {
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          image: 'registry.example/seatgate:1.0.0',
          args: ['start', '--config', '/etc/seatgate/gateway.config.yaml'],
          envFrom: [{ secretRef: { name: 'seatgate' } }],
          ports: [
            { name: 'http', containerPort: 8080 },
            { name: 'ops', containerPort: 9090 },
          ],
          startupProbe: { httpGet: { path: '/livez', port: 'ops' } },
          livenessProbe: { httpGet: { path: '/livez', port: 'ops' } },
          readinessProbe: { httpGet: { path: '/readyz', port: 'ops' } },
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: [{ mountPath: '/etc/seatgate', readOnly: true }, { mountPath: '/tmp' }],
        },
      ],
      volumes: [{ configMap: { name: 'seatgate' } }, { emptyDir: {} }],
    })
  })

  t.test('on OpenShift the namespace gives the user', async (t) => {
    const rendered = render({ ...VALUES, podSecurityContext: { runAsUser: null, runAsGroup: null } })
    const { securityContext } = podOf(rendered).spec as { securityContext: object }
    t.same(securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    t.same(await faultsOf(rendered), [])
    const bare = podOf(render({ ...VALUES, podSecurityContext: null, securityContext: null })).spec
    t.notOk('securityContext' in bare)
  })

  t.test('listeners accept IPv6, so that the probes of its clusters arrive', async (t) => {
    for (const values of [VALUES, MUCH]) {
      const map = render(values).find(({ kind }) => kind === 'ConfigMap')
      const { config } = await loadWithTables(
        join(mounted(t, map?.data ?? {}), 'gateway.config.yaml'),
        ENVIRONMENT,
      )
      const { listen, ops, decision } = config
      t.equal(listen.length, values === MUCH ? 3 : 1)
      t.same(
        new Set([...listen.map(({ host }) => host), ops.host, decision?.listen.host ?? '::']),
        new Set(['::']),
      )
    }
  })

  t.test('listeners have all that those of a configuration have', async (t) => {
    const much = render(MUCH)
    const name = 'seatgate-edge'
    const folder = mounted(t, find(much, 'ConfigMap', name).data)
    const { config } = await loadWithTables(join(folder, 'gateway.config.yaml'), ENVIRONMENT)
    const ca = readPem(readFileSync(certificate('ca.pem'), 'latin1'), 'authorities')
    t.match(config.listen, [
      {
        port: 8443,
        http2: true,
        tls: { minVersion: '1.2', clientAuth: 'require', clientCa: ca, certificates: [{}, {}] },
      },
      { port: 8080, http2: false, tls: null },
      { port: 9443, http2: false, tls: { minVersion: '1.2', clientAuth: 'none' } },
    ])
    t.match(config, { proxyProtocol: true, decision: { url: 'https://decisions.internal' } })
    t.same(find(much, 'Service', name).spec['ports'], [
      {
        name: 'https',
        port: 443,
        targetPort: 'https',
        protocol: 'TCP',
        nodePort: 30443,
        appProtocol: 'https',
      },
      { name: 'http', port: 8080, targetPort: 'http', protocol: 'TCP' },
      { name: 'internal', port: 9443, targetPort: 'internal', protocol: 'TCP' },
    ])
    const { containers, volumes } = podOf(much, name).spec as Record<string, Record<string, unknown>[]>
    const [{ ports, volumeMounts } = {}] = containers ?? []
    t.same(
      (ports as { name: string; containerPort: number }[]).map((port) => [port.name, port.containerPort]),
      [
        ['https', 8443],
        ['http', 8080],
        ['internal', 9443],
        ['ops', 9090],
        ['decision', 9191],
      ],
    )
    t.match((volumeMounts as unknown[]).slice(-2), [
      { name: 'tls-api', mountPath: '/etc/seatgate-tls/api', readOnly: true },
      { name: 'tls-internal', mountPath: '/etc/seatgate-tls/internal', readOnly: true },
    ])
    t.match(volumes?.slice(-2), [{ secret: { secretName: 'api' } }, { secret: { secretName: 'internal' } }])
    t.match(find(render(VALUES), 'Service').spec['ports'], [{ name: 'http', port: 80, targetPort: 'http' }])
  })

  t.test(
    'a name is a text, whatever YAML takes it for: a policy for the port null would open all',
    async (t) => {
      for (const name of ['null', 'true', 'no', 'y', 'on']) {
        const values = {
          ...MUCH,
          nameOverride: 'seatgate',
          listen: [{ name, port: 8080, appProtocol: name }],
        }
        const rendered = render({ ...values, decision: { ...MUCH.decision, url: 'https://a.example #b' } })
        t.match(podOf(rendered).spec['containers'], [{ ports: [{ name }, { name: 'ops' }, {}] }])
        t.match(find(rendered, 'Service').spec['ports'], [{ name, targetPort: name, appProtocol: name }])
        t.match(find(rendered, 'NetworkPolicy').spec['ingress'], [{ ports: [{ port: name }] }, {}, {}])
        t.match(find(rendered, 'ConfigMap').data['gateway.config.yaml'], 'url: "https://a.example #b"')
      }
    },
  )

  t.test('a changed configuration replaces the pods, another number of them does not', async (t) => {
    const checksum = (values: object) => podOf(render(values)).metadata.annotations['checksum/config']
    t.match(checksum(VALUES), /^[0-9a-f]{64}$/)
    t.equal(checksum({ ...VALUES, replicas: 5 }), checksum(VALUES))
    t.not(checksum({ ...VALUES, drain: 40 }), checksum(VALUES))
    t.not(checksum({ ...VALUES, routes: {} }), checksum(VALUES))
  })

  t.test('selectors find the pods', async (t) => {
    for (const rendered of [objects, render(MUCH)]) {
      const name = find(rendered, 'ServiceAccount', rendered[0]?.metadata.name).metadata.name
      const { labels } = podOf(rendered, name).metadata
      const { spec } = find(rendered, 'Deployment', name)
      const selectors = [
        (spec['selector'] as { matchLabels: object }).matchLabels,
        find(rendered, 'Service', name).spec['selector'],
        find(rendered, 'Service', `${name}-ops`).spec['selector'],
        (find(rendered, 'PodDisruptionBudget', name).spec['selector'] as { matchLabels: object }).matchLabels,
        (find(rendered, 'NetworkPolicy', name).spec['podSelector'] as { matchLabels: object }).matchLabels,
      ]
      for (const selector of selectors) t.match(labels, selector)
      for (const selector of selectors) t.equal(Object.keys(selector ?? {}).length, 2)
    }
  })

  t.test('what values switch on and off', async (t) => {
    const much = render(MUCH)
    const name = 'seatgate-edge'
    const { spec } = find(much, 'ServiceMonitor', name)
    const { matchLabels } = spec['selector'] as { matchLabels: object }
    t.match(find(much, 'Service', `${name}-ops`).metadata.labels, matchLabels)
    t.match(spec['endpoints'], [{ port: 'ops', path: '/metrics', interval: '15s' }])
    t.match(find(much, 'NetworkPolicy', name).spec, {
      policyTypes: ['Ingress', 'Egress'],
      ingress: [
        { ports: [{ port: 'https' }, { port: 'http' }, { port: 'internal' }], from: [{ podSelector: {} }] },
        { ports: [{ port: 'decision' }], from: [{ podSelector: { matchLabels: { app: 'nginx' } } }] },
        { ports: [{ port: 'ops' }] },
      ],
      egress: [{ to: [{ ipBlock: { cidr: '10.0.0.0/8' } }] }],
    })
    t.match(find(much, 'Service', `${name}-decision`).spec['ports'], [{ port: 9191, targetPort: 'decision' }])
    const files = podOf(render({ ...VALUES, filesSecretName: 'gate-files' })).spec
    t.match(files['volumes'], [{ name: 'config' }, { name: 'tmp' }, { secret: { secretName: 'gate-files' } }])
    t.match((files['containers'] as { volumeMounts: object[] }[])[0]?.volumeMounts[2], {
      name: 'files',
      mountPath: '/etc/seatgate-files',
      readOnly: true,
    })
    t.equal((podOf(objects).spec['volumes'] as unknown[]).length, 2)
    t.match(podOf(much, name).spec, { nodeSelector: { disk: 'ssd' }, tolerations: [{ key: 'gate' }] })
    const few = render({
      ...VALUES,
      networkPolicy: { enabled: false },
      podDisruptionBudget: { enabled: false },
    })
    const kinds = few.map(({ kind }) => kind)
    t.notOk(kinds.includes('NetworkPolicy') || kinds.includes('PodDisruptionBudget'))
    const closed = find(render({ ...VALUES, networkPolicy: { metricsFrom: [] } }), 'NetworkPolicy').spec
    t.equal((closed['ingress'] as unknown[]).length, 1, 'without peers no rule: it would let everyone in')
  })
})

/** What a Secret of cert-manager has, of the certificates of the tests. */
const SECRET = { 'tls.crt': 'server.pem', 'tls.key': 'server-key.pem', 'ca.crt': 'ca.pem' }
const certificate = (name: string) => join(root, 'test/support/servers/tls', name)

function find(objects: readonly KubernetesObject[], kind: string, name = 'seatgate'): KubernetesObject {
  const found = objects.find((each) => each.kind === kind && each.metadata.name === name)
  if (found === undefined) throw new Error(`no ${kind} ${name}`)
  return found
}

function podOf(objects: readonly KubernetesObject[], name?: string) {
  return find(objects, 'Deployment', name).spec['template'] as {
    readonly metadata: KubernetesObject['metadata'] & { readonly annotations: Record<string, string> }
    readonly spec: Readonly<Record<string, unknown>>
  }
}

/** As the kubelet mounts a ConfigMap: each key is a link into a folder that a link names. */
function mounted(t: Test, data: Readonly<Record<string, string>>): string {
  const folder = serverFolder(t, 'configmap')
  const secrets = serverFolder(t, 'secrets')
  for (const name of MUCH.tlsSecrets) {
    mkdirSync(join(secrets, name))
    for (const [file, source] of Object.entries(SECRET))
      copyFileSync(certificate(source), join(secrets, name, file))
  }
  mkdirSync(join(folder, '..2026'))
  symlinkSync('..2026', join(folder, '..data'))
  for (const [name, text] of Object.entries(data)) {
    writeFileSync(join(folder, '..2026', name), text.replaceAll('/etc/seatgate-tls', secrets))
    symlinkSync(join('..data', name), join(folder, name))
  }
  return folder
}
