/** A version of the route tables: what differs from the version before, and the way back to it. */

import { useState } from 'preact/hooks'
import { hrefOf, open } from '../address.js'
import { call } from '../gateway-calls.js'
import { lineDifferences } from '../line-differences.js'
import { useLoaded } from '../loading.js'
import { html } from '../markup.js'
import { Facts, number, Time } from '../pieces.js'
import { RollbackDialog } from '../rollback-dialog.js'
import { Empty, PageHeading, whenLoaded } from '../states.js'
import { Author } from './tables-page.js'

/** @typedef {Readonly<Record<string, string>> | null} Files null: not kept any more */

/** @param {{ rest: string[] }} props */
export function TablesVersionPage({ rest: [id = ''] }) {
  const [asking, setAsking] = useState(false)
  const loaded = useLoaded(
    async (signal) => {
      const at = (/** @type {string} */ version) => call('GET', `/v1/tables/${version}`, { signal })
      const [version, active] = await Promise.all([
        at(encodeURIComponent(id)),
        call('GET', '/v1/tables', { query: { limit: '1' }, signal }),
      ])
      const before = version.version > 1 ? await at(String(version.version - 1)) : null
      return { version, active: active.version, before: before === null ? {} : before.files }
    },
    [id],
  )
  const { value } = loaded
  const { files = null } = value?.version ?? {}
  const canRollBack = value !== null && files !== null && value.active !== value.version.version
  const close = (/** @type {boolean} */ isDone) => {
    setAsking(false)
    if (isDone) open(hrefOf(['tables']))
  }
  return html`
    <${PageHeading} title=${`Version ${id}`} back=${{ href: hrefOf(['tables']), text: 'Tables' }}>
      ${canRollBack && html`<button type="button" class="button" onClick=${() => setAsking(true)}>Roll back to it…</button>`}
    <//>
    ${whenLoaded(
      loaded,
      'Version',
      ({ version, active, before }) => html`
        <${Facts}
          rows=${[
            [
              'State',
              version.version === active
                ? html`<span class="badge">active</span>`
                : html`not active; version <a href=${hrefOf(['tables', String(active)])}>${active}</a> is`,
            ],
            ['Pushed', html`<${Time} at=${version.created_at} />`],
            ['By', html`<${Author} of=${version} />`],
            ['Routes', number(version.entries)],
            ['Hash', html`<code>${version.hash}</code>`],
          ]}
        />
        <${Changes} before=${before} after=${version.files} number=${version.version} />
      `,
    )}
    ${asking && files !== null && html`<${RollbackDialog} version=${Number(id)} files=${files} onClose=${close} />`}
  `
}

/** @param {{ before: Files, after: Files, number: number }} props */
function Changes({ before, after, number: version }) {
  const title = version === 1 ? 'Its files' : `Changes since version ${version - 1}`
  if (before === null || after === null)
    return html`<section>
      <h2>${title}</h2>
      <${Empty}><p>The files of the newest 100 versions are kept.</p><//>
    </section>`
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  const changed = names.filter((name) => before[name] !== after[name])
  return html`<section>
    <h2>${title}</h2>
    ${changed.length === 0 && html`<${Empty}><p>No file differs.</p><//>`}
    ${changed.map((name) => html`<${File} key=${name} name=${name} before=${before[name]} after=${after[name]} />`)}
  </section>`
}

/** The most lines that are shown of a file. */
const MOST_LINES = 500

/** @param {{ name: string, before: string | undefined, after: string | undefined }} props */
function File({ name, before, after }) {
  const lines = lineDifferences(before ?? '', after ?? '')
  const what = before === undefined ? 'new' : after === undefined ? 'removed' : null
  return html`<section>
    <h3><code>${name}</code>${what && html` <span class="badge">${what}</span>`}</h3>
    <ul class="changes">
      ${lines.slice(0, MOST_LINES).map(
        ({ kind, number: line, text }) =>
          html`<li class=${kind} key=${`${kind}${line}`}>
            <span class="unseen">${kind}: </span
            ><span aria-hidden="true">${kind === 'added' ? '+' : '−'}</span>${' '} <code>${line}</code>
            <code class="line">${text}</code>
          </li>`,
      )}
      ${lines.length > MOST_LINES && html`<li class="quiet">and ${number(lines.length - MOST_LINES)} more lines</li>`}
    </ul>
  </section>`
}
