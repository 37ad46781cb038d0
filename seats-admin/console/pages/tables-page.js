/** The versions of the route tables in the store: who pushed which, and when. */

import { useState } from 'preact/hooks'
import { hrefOf } from '../address.js'
import { call } from '../gateway-calls.js'
import { refusalOf, useLoaded } from '../loading.js'
import { html } from '../markup.js'
import { Name, number, Table, Time } from '../pieces.js'
import { Empty, PageHeading, Refusal, whenLoaded } from '../states.js'

/** @typedef {import('../answers.d.ts').ListedTables} ListedTables */

/** The versions of one page. */
const LIMIT = '20'

export function TablesPage() {
  const first = useLoaded((signal) => call('GET', '/v1/tables', { query: { limit: LIMIT }, signal }), [])
  return html`
    <${PageHeading} title="Tables" />
    <p class="lead">
      The route tables of all gateways are in the store. The newest version is active.${' '}<code
        >seatgate tables push</code
      >
      ${' '}makes a new one.
    </p>
    ${whenLoaded(first, 'Versions', (value) => html`<${Versions} key=${value.version} first=${value} />`)}
  `
}

/** @param {{ first: { versions: ListedTables[], has_more: boolean, version: number } }} props */
function Versions({ first }) {
  const [older, setOlder] = useState({ rows: /** @type {ListedTables[]} */ ([]), hasMore: first.has_more })
  const [refusal, setRefusal] = useState(/** @type {import('../gateway-calls.js').Refused | null} */ (null))
  const rows = [...first.versions, ...older.rows]
  const more = async () => {
    setRefusal(null)
    try {
      const query = { limit: LIMIT, after: String(rows.at(-1)?.version ?? '') }
      const { versions, has_more: hasMore } = await call('GET', '/v1/tables', { query })
      setOlder({ rows: [...older.rows, ...versions], hasMore })
    } catch (cause) {
      setRefusal(refusalOf(cause))
    }
  }
  if (rows.length === 0)
    return html`<${Empty}
      ><p>No tables were pushed: there are no routes but those of the gateway itself.</p><//
    >`
  return html`
    <${Table}
      label="Versions"
      columns=${[['Version'], ['Pushed'], ['By'], ['Routes'], ['Hash', 'wide-only']]}
      rows=${rows.map(
        (each) =>
          html`<tr key=${each.version}>
            <th scope="row">
              <a href=${hrefOf(['tables', String(each.version)])}>${each.version}</a
              >${each.version === first.version && html` <span class="badge">active</span>`}
            </th>
            <td><${Time} at=${each.created_at} /></td>
            <td><${Author} of=${each} /></td>
            <td>${number(each.entries)}</td>
            <td class="wide-only"><code>${each.hash}</code></td>
          </tr>`,
      )}
    />
    ${refusal && html`<${Refusal} refusal=${refusal} again=${more} what="Older versions" />`}
    ${older.hasMore && refusal === null && html`<button type="button" class="button" onClick=${more}>Show more</button>`}
  `
}

/** @param {{ of: Pick<ListedTables, 'created_by'> }} props */
export function Author({ of: { created_by: by } }) {
  if (by === null) return html`<span class="quiet">–</span>`
  return html`<${Name}
      of=${by.name ?? by.id}
    />${by.kind !== 'user' && html` <span class="quiet">(${by.kind.replace('-', ' ')})</span>`}`
}
