"""The table of secrets: everything that Holdfast knows about them by name.

To add a kind of token, add its beginning to `TOKENS`. A shape with a fixed word in it goes into
`SHAPES`, a new name for a password or a key into the words of names.
"""


def _words(words: str) -> frozenset[str]:
    return frozenset(words.split())


# The characters that a token consists of behind its beginning.
ALPHABETS = {
    "hex": "[0-9a-f]",
    "upper": "[A-Z0-9]",
    "plain": "[A-Za-z0-9]",
    "word": "[A-Za-z0-9_-]",
    "dots": "[A-Za-z0-9_.-]",
    "base64": "[A-Za-z0-9_.~+/=%:-]",
}
# Kind, alphabet, least length behind the beginning, beginnings. What follows a beginning must look
# made by a machine too: `npm_config_registry` is a name.
TOKENS = """
github token | word | 30 | ghp_ gho_ ghu_ ghr_ ghs_ github_pat_
gitlab token | dots | 16 | glpat- gldt- glrt- glrtr- glptt- glcbt- glft- glsoat- glffct- glagent-
gitlab token | dots | 16 | gloas- glimt- glwt- GR1348941
bitbucket token | word | 20 | ATCTT3 ATBB BBDC-
slack token | dots | 10 | xoxa- xoxb- xoxp- xoxr- xoxs- xoxe- xoxe. xoxo- xoxc- xapp- xwfp-
slack token | base64 | 20 | xoxd-
stripe key | word | 16 | sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ whsec_
anthropic key | word | 20 | sk-ant-
helicone key | word | 27 | sk-helicone-
openai key | word | 20 | sk-proj- sk-svcacct- sk-admin- sk-None-
api key | word | 20 | sk- sk_ rk_ esecret_ testsk_
google api key | word | 30 | AIza
google token | dots | 20 | ya29. GOCSPX-
aws access key | upper | 16 | AKIA ASIA ABIA ACCA
aws bedrock key | base64 | 60 | ABSK bedrock-api-key-
npm token | word | 30 | npm_
pypi token | word | 50 | pypi-AgE
hugging face token | word | 30 | hf_ api_org_
digitalocean token | hex | 40 | dop_v1_ doo_v1_ dor_v1_
docker token | word | 20 | dckr_pat_ dckr_oat_
shopify token | word | 30 | shpat_ shpca_ shppa_ shpss_ shptka_ shpua_
atlassian token | base64 | 30 | ATATT3 ATTA ATTT ATSTT3
databricks token | hex | 32 | dapi
grafana token | word | 32 | glsa_ glc_ eyJrIjoi
hashicorp token | dots | 20 | hvs. hvb. hvr. hcp.
doppler token | dots | 16 | dp.pt. dp.st. dp.ct. dp.sa. dp.said. dp.scim. dp.audit.
sendgrid key | dots | 40 | SG.
mailgun key | hex | 32 | key-
vercel token | word | 20 | vercel_ vcp_ vci_ vca_ vcr_ vck_
netlify token | word | 30 | nfp_ nfc_ nfo_ nfu_ nfb_
fly.io token | base64 | 30 | fo1_ fm1_ fm1r_ fm1a_ fm2_
supabase key | word | 20 | sbp_ sb_secret_
cloudflare token | word | 30 | cfut_ cfat_ cfk_ v1.0-
planetscale token | word | 20 | pscale_tkn_ pscale_pw_ pscale_oauth_
notion token | plain | 30 | ntn_ secret_
linear token | plain | 30 | lin_api_ lin_oauth_ lin_wh_
figma token | word | 30 | figd_ figu_ figo_ figp_
square token | word | 20 | sq0atp- sq0csp-
square token | word | 50 | EAAA
facebook token | plain | 50 | EAAG EAAC EAAM EAAB EAAJ EAAD
instagram token | word | 50 | IGQV IGQW
dropbox token | dots | 50 | sl.
dynatrace token | dots | 24 | dt0c01. dt0s01. dt0s02. dt0s03. dt0s06. dt0s08. dt0s16.
new relic key | upper | 20 | NRAK-
new relic key | word | 16 | NRII- NRJS- NRAA- NRRA- NRSP- NRIQ-
sentry token | base64 | 30 | sntrys_ sntryu_ sntrya_ sntryi_
sonar token | hex | 40 | sqp_ squ_ sqa_
postman key | word | 40 | PMAK- PMAT-
pulumi token | hex | 32 | pul-
age key | upper | 50 | AGE-SECRET-KEY-1 AGE-SECRET-KEY-PQ-1
wallet key | plain | 50 | xprv yprv zprv tprv nsec1
adobe secret | word | 24 | p8e-
alibaba key | plain | 14 | LTAI
tencent key | plain | 30 | AKID
yandex key | dots | 30 | AQVN YCAJE t1.
artifactory token | plain | 50 | AKCp cmVmdGtu
1password token | base64 | 50 | ops_eyJ
octopus key | upper | 25 | API-
api key | dots | 24 | gsk_ xai- r8_ pplx- tvly- fw_ nvapi- csk- jina_ pcsk_ lsv2_pt_ lsv2_sk_
api key | dots | 24 | wandb_v1_ tgp_v1_ e2b_ rpa_ bb_live_ llx- nk- m0- fc- pa- ctx7sk- luma- flp_
api key | dots | 24 | ak- as- apk_ fk- wk- crsr_ sgp_ sgs_ sgd_ sga_ slk_ QN_ KEY0 gb_api_ rdme_
api key | dots | 24 | hcaik_ hcxik_ hcxmk_ hcamk_ xaat- xapt- ddpat_ ddapp_ hcr_ cal_live_
api key | dots | 24 | apify_api_ n8n_api_ pdl_live_apikey_ pdl_sdbx_apikey_ mdb_sa_sk_
api key | dots | 24 | xnd_production_ xnd_development_ klarna_live_api_ klarna_test_api_ essu_ VF.
api key | dots | 24 | mlsn. re_ xkeysib- xsmtpsib- dnkey- hapikey- signkey- EZAK EZTK oa_prod_
api key | dots | 24 | private_ standard_ nbp_ vtwn_ ico- shippo_live_ shippo_test_ polar_oat_
api key | dots | 24 | polar_pat_ polar_whs_
token | dots | 20 | rubygems_ tskey- HRKU- rnd_ aio_ CFPAT- CCIPAT_ CCIPRJ_ CLOJARS_ dtn_
token | dots | 20 | duffel_live_ duffel_test_ FLWSECK- FLWSECK_TEST- fio-u- pnu_ pnb_ tk-us- sm_aat_
token | dots | 20 | sm_pat_ sm_sat_ hawk. tfp_ waka_ bkua_ bkct_ bkaj_ bkpt_ napi_ key_live_
token | dots | 20 | key_test_ AVNS_ access-production- access-sandbox- access-development- pat-na1-
token | dots | 20 | pat-na2- pat-eu1- s-s4t2ud- tok_live_ ghost_ phx_ phs_ tr_prod_ tr_dev_ tr_stg_
token | dots | 20 | 3MVG9 secret-live- secret-test- dbtc_ dbtu_ dbts_ xau_ depot_org_ depot_project_
token | dots | 20 | nsct_ jsrp_ jsrs_ packagist_ ddp_ ddo_ ddw_ csb_v1_ gitpod_pat_ chpt_ sktsec_
token | dots | 20 | edbt1_ nbwt1_ pina_ sec-c- ory_at_ ory_pat_ ory_st_ pat. sat.
token | dots | 20 | persona_production_ persona_sandbox_ SB-Mid-server- Mid-server- tly- pypi-
token | word | 12 | npg_ rzp_live_ rzp_test_
token | plain | 32 | cio oy2
woocommerce key | hex | 40 | ck_ cs_
openshift token | word | 40 | sha256~
twitter token | base64 | 50 | AAAAAAAAAAAAAAAAAAAA
private key | base64 | 60 | LS0tLS1CRUdJTiBSU0Eg LS0tLS1CRUdJTiBFQyBQ LS0tLS1CRUdJTiBEU0Eg
private key | base64 | 60 | LS0tLS1CRUdJTiBQUklW LS0tLS1CRUdJTiBPUEVO LS0tLS1CRUdJTiBFTkNS
private key | base64 | 60 | LS0tLS1CRUdJTiBQR1Ag
"""
# A token whose maker is not in the table: one of these words, then what a machine made. Behind the
# second ones hashes stand too (`app-prod-9fceb02d…`).
TELLING_PARTS = "sk|rk|secret|token|pat|rw|oat|pw|svcacct"
DOUBTFUL_PARTS = "live|prod|production|api|private"
PUBLIC_STARTS = ("pk", "pub", "price", "prod", "acct", "cus", "cs_", "org", "user", "sub", "test")
# Shapes that are one long run of letters, digits, `_`, `.`, `~` and `-`.
RUN_SHAPES = (
    ("discord token", r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,64}"),
    ("mapbox token", r"sk\.eyJ[\w-]{20,}\.[\w-]{16,}"),
    ("mailchimp key", r"[0-9a-f]{32}-us[0-9]{1,2}"),
    ("mailgun key", r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"),
    ("airtable token", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}"),
    ("terraform token", r"\w{14}\.atlasv1\.[\w-]{40,}"),
    ("maxmind key", r"\w{6}_\w{29}_mmk"),
    ("azure devops token", r"[A-Za-z0-9]{76}AZDO\w{4}"),
    ("rapidapi key", r"\w{10}msh\w{15}p1\w{5}jsn\w{12}"),
    ("launchdarkly key", r"(?:sdk|api)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("azure secret", r"\w{3}8Q~[\w.~-]{31,34}"),
    ("twilio key", r"SK[0-9a-f]{32}"),
    ("clickup token", r"pk_[0-9]{5,10}_[A-Z0-9]{32}"),
    ("1password key", r"A3-[A-Z0-9]{6}-[A-Z0-9]{6}(?:-[A-Z0-9]{5}){4}"),
    ("bitcoin key", r"[5KL](?=.{0,40}[0-9])[1-9A-HJ-NP-Za-km-z]{50,51}"),
    ("recovery key", r"[0-9]{6}(?:-[0-9]{6}){7}"),
)
# Kind, a text that must occur, pattern, how the value is judged (`JUDGES` in `shapes`). Group 1 is
# the secret. Each text costs 0.5 ms per MB; a pattern begins with plain letters, which is fast to
# search for, and is bounded, so that no text takes more than linear time.
SHAPES = (
    ("jwt", "eyJ",  # not the public one of a map; a run is read once
     r"pk\.eyJ[\w.-]*+|(eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]+){0,3})|eyJ[\w-]*+", ""),
    ("aws secret key", "AKIA",
     r"AKIA[A-Z0-9]{16}[\s,:;|/\"']{1,12}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])", "random"),
    ("telegram token", ":AA", r"(?<=[0-9]{8}):(AA[\w-]{33,64})", "random"),
    ("private key", 'kty"',
     r"kty\"[^{}]{0,512}?\" {0,7}(?:d|k)\" {0,7}:\s{0,4}\" {0,7}([\w-]{20,2048})", ""),
    ("password hash", "$",
     r"\$(?:[156y]|2[abxy]|apr1|argon2\w{1,2}|scrypt|pbkdf2[\w-]{0,8})\$([\w./$=,+-]{20,200})", ""),
    ("password", "@tcp(", r":([^\s:@/\"'`]{1,128})@tcp\(", "set"),
    ("bearer token", "earer ", r"earer[ \t]{1,4}([\w.~+/:|-]{12,4096}={0,2})", "random"),
    ("password", "asic ", r"asic[ \t]{1,4}([A-Za-z0-9+/=]{6,1024})", "basic"),
    ("password", "IDENTIFIED BY", r"IDENTIFIED BY[ \t]{1,4}[\"']([^\s\"']{1,255})", "set"),
    ("password", ":5432:",  # a line of `.pgpass`
     r":5432:[\w*-]{1,64}:[\w*.@-]{1,64}:([^\s:\"']{4,128})", "password"),
    ("password", "@",
     r"://[^\s/:@\"'`<>\[\](){},]{0,128}:([^\s\"'`<>/]{1,256})@(?=[\w.\[$-])", "set"),
    ("password", "@",  # with a slash in it; a number before the slash is a port
     r"://[^\s/:@.\"'`<>]{1,64}:(?![0-9]{1,5}/)([^\s\"'`<>@]{1,256})@(?=[\w.\[$-])", "set"),
    ("token", "@", r"://([^\s/:@\"'`<>]{20,256})@(?=[\w.-])", "strong"),
    ("webhook", "hooks.slack.com/", r"hooks\.slack\.com/\w{1,20}/([\w/-]{20,128})", "set"),
    ("webhook", "/api/webhooks/", r"/api/webhooks/([0-9]{15,20}/[\w-]{40,128})", "set"),
    ("webhook", "webhook.office.com/", r"webhook\.office\.com/([\w@/.-]{40,400})", "set"),
    ("webhook", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/catch/([\w/-]{10,128})", "set"),
    ("one-time password seed", "otpauth:",
     r"otpauth://[^\s\"']{1,200}?secret=([A-Za-z2-7]{8,128})", ""),
)  # fmt: skip
# Programs, flags by which they take a password although the flag does not say so, and how: glued to
# the flag, as the next argument too (any), only behind `login`, or behind the user and this sign.
COMMANDS = (
    ("mysql mysqldump mysqladmin mysqlimport mariadb mariadb-dump 7z 7za rar unrar", "-p", "glued"),
    ("sshpass mongo mongosh mongodump mongorestore mongoexport mongoimport cqlsh", "-p", "any"),
    ("docker podman nerdctl buildah skopeo helm az oc cf crane", "-p", "login"),
    ("sqlcmd bcp zip unzip ipmitool mosquitto_pub mosquitto_sub", "-P", "any"),
    ("redis-cli keydb-cli valkey-cli", "-a", "any"),
    ("ldapsearch ldapadd ldapmodify ldapdelete ldapwhoami", "-w", "any"),
    ("ssh-keygen", "-N", "any"),
    ("plink pscp psftp", "-pw", "any"),
    ("curl wget http https xh ab", "-u -U --user --proxy-user --auth", ":"),
    ("smbclient", "-U --user", "%"),
    ("lftp", "-u --user", ","),
)

# Words of names. A name is cut into its words: `dbPassword`, `DB_PASSWORD` and `db-password` are
# the same.
PASSWORD_WORDS = _words(
    "password passwd passphrase passcode passwort kennwort contraseña contrasena senha пароль "
    "пароля паролем 密码 密碼 パスワード parola lösenord hasło clave pwd 비밀번호 şifre "
    "jelszó passord pass pw psk passw requirepass masterauth authtok passe motdepasse"
)
NO_PASSWORDS = _words("bypass compass trespass surpass underpass overpass encompass")
SECRET_WORDS = _words("secret token credential credentials creds apikey authtoken")
# Behind these the value must be long and random.
HINT_WORDS = _words("auth oauth cred pat")
# These count only before an equals sign, as in a cookie or an address.
SESSION_WORDS = _words("sid session sessid phpsessid jsessionid sessionid sig signature code")
PUBLIC_WORDS = frozenset(("public", "publishable", "pub"))  # in a name: it is meant to be seen
# What a key is called that opens something …
OPENING = _words(
    "api access private secret auth account encryption encrypt decryption signing sign signature "
    "master license service storage webhook app application admin deploy subscription ssh gpg pgp "
    "integration client consumer hmac jwt session cookie bot server rest merchant vault unseal "
    "recovery fernet aes wireguard preshared shared root org team bearer refresh personal wpa "
    "wifi product django flask rails write read"
)
# … and what it is called where it is the name of a thing.
THINGS = _words(
    "cache primary foreign partition sort row object s3 idempotency dedup query translation i18n "
    "locale host index lookup hash unique group order config registry hot shortcut arrow enter "
    "map dict json column field prop react item composite natural issue project jira ticket "
    "feature flag state storybook no any each same first last this that the a one other every "
    "keyboard modifier escape tab delete color colour known hosts"
)
# Tokens of pages, of models and of a design open nothing either.
COUNTED = _words(
    "page next continuation max min cancel cancellation total used input output prompt completion "
    "per checksum design color colour cache syntax sync"
)
# Words behind a telling one that change nothing …
TAILS = _words(
    "base value val prod production dev development staging stage live test local old new primary "
    "secondary default b64 base64 raw hex string str txt text plain data env db admin root again "
    "hash"
)
# … and those that make it the name of something else.
OTHER_TAILS = _words(
    "id ids name names url uri path file files dir type count at ttl expiry expires expired "
    "expiration length len size limit limits policy hint field prompt label usage index version "
    "arn ref format algorithm alg header headers endpoint provider manager store rotation enabled "
    "required min max used left budget error errors status state scope scopes grant service "
    "account handler helper func function class method model user username email host port region "
    "prefix suffix regex pattern list map set input button form page reset strength rules kind "
    "issuer audience created updated timestamp date time number num fingerprint digest checksum "
    "sha md5 public"
)
# A value made of these words alone is a stand-in, a label, a type or a state.
STOCK_WORDS = _words(
    "a access account actual add admin an and any api app apikey as auth authorization authtoken "
    "aws bar base64 basic bearer blank bool boolean bot bytes change changeme char client comment "
    "confirm confirmation const correct create credential credentials csrf current custom data db "
    "default demo deploy disabled dummy empty enabled encrypted enter env error example expired "
    "expression external fake false field fill foo for force forgot from generate generated get "
    "github go goes hash hashed header here hidden id identifier in incorrect input insert int "
    "integer invalid is it jwt key keys keyword label literal login long lost machine manual "
    "masked me method min missing mock must my mypassword mysecret name new next nil no none not "
    "null number object of ok old on one openai operator optional or our parameter pass "
    "passphrase password passwords passwd personal pin placeholder plain prod production profile "
    "prompt provided public put pwd random read real redacted ref refresh registry removed repeat "
    "replace replaceme required reset root salt sample secret secrets secure service session set "
    "sk some something str string stub super supersecret tbd temp template test testing testpass "
    "testpassword text that the this to todo token tokens true two type undefined unknown update "
    "use user username userpassword valid value values var variable void weak webhook with wrong "
    "write yes your yours abc xyz postgres mysql mariadb redis mongo guest rabbitmq minio "
    "minioadmin"
)
# A sentence about a password has one of these; a phrase that is one seldom does.
PROSE_WORDS = _words(
    "a an and are at be by can cannot character characters char chars contain contains could does "
    "enter entered error expired failed field for from has have if in incorrect invalid is "
    "it least length match matches missing must no not of on or please required reset should than "
    "that the their this to too use used user users using valid want was we were will with "
    "without wrong you your updated changed forgot confirm new current old repeat again show hide"
)
