//! The forms that issuers document for their keys and tokens, as data: one rule a line.
//!
//! Deliberately absent: how commands are passed a password (`commands.rs`), and what has no form of its own and is known by the
//! name before it (`given.rs`).

/// Longer forms stand before those that they hold. The columns:
///
/// 1. what the secret is;
/// 2. needles, one of which stands in every text that holds one;
/// 3. how far before a needle one may begin;
/// 4. how far behind where the needle begins it may end;
/// 5. the least Shannon entropy of what is secret, in bits a byte: less is an example. A password of 3.0 or more has to look
///    chosen as in a sentence, for its place may hold other things;
/// 6. a pattern: what is secret is its first group, or all of it. That of a private key is how it begins; it goes on to its end.
pub(super) const FORMS: &str = r#"
private-key         PRIVATE KEY             80   40    4.0  -----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----
putty-key           PuTTY-User-Key-File-    0    8192  4.0  PuTTY-User-Key-File-[23]: [^"]{40,6000}?Private-Lines: [0-9]{1,3}(?:\s|\\+[nr])+((?:[A-Za-z0-9+/=]{1,64}(?:\s|\\+[nr])+)+)
age-key             AGE-SECRET-KEY-1        0    76    3.5  AGE-SECRET-KEY-1([02-9AC-HJ-NP-Z]{58})
aws-access-key      AKIA,ASIA,ABIA,ACCA     0    24    3.0  A(?:KIA|SIA|BIA|CCA)[A-Z2-7]{16}
aws-secret-key      ecret,ECRET             4    110   4.0  (?i:secret_?(?:access)?_?key)[\\"']{0,8}[ \t]{0,3}[:=][ \t]{0,3}[\\"']{0,8}([A-Za-z0-9/+]{40})
aws-bedrock-key     ABSK,bedrock-api-key-   0    4096  3.5  ABSK[A-Za-z0-9+/]{100,270}={0,2}|bedrock-api-key-[A-Za-z0-9+/=_-]{80,}
github-token        ghp_,gho_,ghu_,ghs_,ghr_  0    600   3.5  gh[pousr]_[A-Za-z0-9]{36,251}
github-token        github_pat_             0    100   3.5  github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}
gitlab-token        glpat-,gldt-,glrt-,glptt-,glcbt-,glsoat-,glft-,glimt-,glagent-,gloas-,glffct-,glwt-  0    360   3.2  gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent|oas|ffct|wt)-[A-Za-z0-9_-]{20,300}(?:\.[a-z0-9]{2}\.?[a-z0-9]{7,9})?
gitlab-token        GR1348941               0    40    3.5  GR1348941[A-Za-z0-9_-]{20}
bitbucket-token     ATBB,ATCTT3xFf          0    420   3.5  ATBB[A-Za-z0-9]{28,36}|ATCTT3xFf[A-Za-z0-9+/=_-]{80,400}
atlassian-token     ATATT3,ATSTT3           0    420   3.5  AT[AS]TT3[A-Za-z0-9_=-]{150,400}
trello-token        ATTA                    0    80    3.5  ATTA[a-f0-9]{60,72}
slack-token         xox                     0    420   3.0  xox[abcdeoprs][.-][A-Za-z0-9.%-]{20,400}
slack-token         xapp-                   0    160   3.0  xapp-[0-9]-[A-Z0-9]{8,14}-[0-9]{9,14}-[a-f0-9]{60,70}
slack-webhook       hooks.slack.com/        8    130   3.5  https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{30,90}
discord-webhook     /api/webhooks/          40   160   3.5  https://(?:[a-z]+\.)?discord(?:app)?\.com/api/webhooks/[0-9]{16,20}/([A-Za-z0-9_-]{60,80})
teams-webhook       /IncomingWebhook/,/webhookb2/  120  260   3.5  https://[a-z0-9-]+\.webhook\.office\.com/webhookb2/[a-z0-9@-]{60,90}/IncomingWebhook/[a-z0-9]{32}/[a-z0-9-]{36}[A-Za-z0-9/_-]*
openai-key          T3BlbkFJ                180  180   3.5  sk-[A-Za-z0-9_-]{10,170}T3BlbkFJ[A-Za-z0-9_-]{20,170}
anthropic-key       sk-ant-                 0    200   3.5  sk-ant-[a-z]{3,8}[0-9]{2}-[A-Za-z0-9_-]{80,130}
openrouter-key      sk-or-                  0    84    3.0  sk-or-v[0-9]-[a-f0-9]{64}
langfuse-key        sk-lf-                  0    50    3.0  sk-lf-[a-f0-9-]{36}
groq-key            gsk_                    0    60    3.5  gsk_[A-Za-z0-9]{48,56}
xai-key             xai-                    0    90    3.5  xai-[A-Za-z0-9]{70,84}
perplexity-key      pplx-                   0    60    3.5  pplx-[A-Za-z0-9]{40,56}
replicate-token     r8_                     0    44    3.5  r8_[A-Za-z0-9]{36,40}
langsmith-key       lsv2_                   0    60    3.0  lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}
model-key           sk-                     0    210   3.2  sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{40,200}|sk-(?:[A-Za-z0-9]{1,12}[_-]){0,3}[A-Za-z0-9_]{32,200}(?:-[A-Za-z0-9_-]{1,170})?
model-key           sk-                     0    210   4.2  sk-[A-Za-z0-9_-]{32,200}
model-key           nvapi-,pa-,csk-,fw_,tgp_v1_,jina_,tvly-,fc-,e2b_,pcsk_,esecret_,rpa_,key_  0    140   3.2  nvapi-[A-Za-z0-9_-]{60,72}|pa-[A-Za-z0-9_-]{40,48}|csk-[a-z0-9]{40,56}|fw_[A-Za-z0-9]{22,32}|tgp_v1_[A-Za-z0-9_-]{40,48}|jina_[A-Za-z0-9]{50,64}|tvly-(?:dev-|prod-)?[A-Za-z0-9]{28,40}|fc-[a-f0-9]{32}|e2b_[a-f0-9]{40}|pcsk_[A-Za-z0-9]{4,6}_[A-Za-z0-9]{50,80}|esecret_[A-Za-z0-9]{20,40}|rpa_[A-Z0-9]{40,50}[a-z0-9]{0,8}|key_[a-f0-9]{64}
huggingface-token   hf_,api_org_            0    44    3.5  (?:hf|api_org)_[A-Za-z]{34}
google-key          AIza                    0    44    3.5  AIza[A-Za-z0-9_-]{35}
google-oauth        GOCSPX-,ya29.           0    600   3.5  GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{30,}
google-oauth        1//0                    0    140   3.7  1//0[A-Za-z0-9_-]{38,110}
stripe-key          k_live_,k_test_,k_prod_  1    270   3.4  [rs]k_(?:live|test|prod)_[A-Za-z0-9]{24,250}
webhook-secret      whsec_                  0    80    3.4  whsec_[A-Za-z0-9+/=]{24,70}
square-token        sq0atp-,sq0csp-,EAAA    0    72    3.5  sq0(?:atp-[A-Za-z0-9_-]{22}|csp-[A-Za-z0-9_-]{43})|EAAA[A-Za-z0-9_-]{56,62}
paypal-token        access_token$           0    90    3.0  access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32}
plaid-token         access-production-,access-sandbox-,access-development-  0    60    3.0  access-(?:production|sandbox|development)-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}
payment-key         FLWSECK,EZAK,EZTK,duffel_,shippo_,pdl_live_,pdl_sdbx_,rzp_live_  0    100   3.2  FLWSECK(?:_TEST)?-[A-Za-z0-9]{32}-X|EZ[AT]K[A-Za-z0-9]{54}|duffel_(?:test|live)_[A-Za-z0-9_=-]{43}|shippo_(?:live|test)_[A-Fa-f0-9]{40}|pdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}|rzp_live_[A-Za-z0-9]{14}
shopify-token       shpat_,shpca_,shppa_,shpss_,shprt_  0    44    3.0  shp(?:at|ca|pa|ss|rt)_[A-Fa-f0-9]{32}
twilio-key          SK0,SK1,SK2,SK3,SK4,SK5,SK6,SK7,SK8,SK9,SKa,SKb,SKc,SKd,SKe,SKf  0    36    3.0  SK[0-9a-f]{32}
sendgrid-key        SG.                     0    72    3.5  SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}
mail-key            key-,pubkey-,xkeysib-,xsmtpsib-,re_,mlsn.  0    100   3.0  (?:pub)?key-[a-f0-9]{32}|x(?:key|smtp)sib-[a-f0-9]{64}-[A-Za-z0-9]{16}|re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}|mlsn\.[a-f0-9]{64}
mail-key            -us                     32   6     3.0  [a-f0-9]{32}-us[0-9]{1,2}
npm-token           npm_                    0    44    3.5  npm_[A-Za-z0-9]{36}
pypi-token          pypi-AgE                0    1024  3.5  pypi-AgE[A-Za-z0-9_-]{50,1000}
package-token       rubygems_,oy2,CLOJARS_,cio,AKCp,cmVmd  0    90    3.3  rubygems_[a-f0-9]{48}|oy2[a-z0-9]{43}|CLOJARS_[a-z0-9]{60}|cio[A-Za-z0-9]{32}|AKCp[A-Za-z0-9]{60,73}|cmVmd[A-Za-z0-9]{59}
docker-token        dckr_                   0    50    3.5  dckr_[po]at_[A-Za-z0-9_-]{27,32}
telegram-token      :AA                     14   44    3.5  (?:bot)?([0-9]{8,10}:AA[A-Za-z0-9_-]{33})
digitalocean-token  _v1_                    3    76    3.0  do[opr]_v1_[a-f0-9]{64}
heroku-key          HRKU-AA                 0    80    3.5  HRKU-AA[A-Za-z0-9_-]{58}
fly-token           fo1_,fm1r_,fm1a_,fm2_   0    1200  3.7  fo1_[A-Za-z0-9_-]{43}|fm(?:1[ar]|2)_[A-Za-z0-9+/]{100,1000}={0,3}
hosting-token       nfp_,rnd_,vercel_blob_rw_,vcp_,vck_,sbp_,sb_secret_,napi_,pscale_,tk-us-,bkua_,bkct_,CCIPAT_,CCIPRJ_,pnu_,pul-,tskey-,cfut_,cfat_  0    110   3.2  (?:nfp|rnd|vcp|vck)_[A-Za-z0-9]{24,60}|vercel_blob_rw_[A-Za-z0-9]{16}_[A-Za-z0-9]{30,32}|sbp_(?:oauth_)?[a-f0-9]{40}|sb_secret_([A-Za-z0-9_-]{28,44})|napi_[a-z0-9]{40,70}|pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_=.-]{32,64}|tk-us-[A-Za-z0-9_-]{48}|bk(?:ua|ct)_[a-z0-9]{40}|CCIP(?:AT|RJ)_[A-Za-z0-9]{20,26}_[a-f0-9]{40}|pnu_[A-Za-z0-9]{36}|pul-[a-f0-9]{40}|tskey-[a-z]{3,8}-[A-Za-z0-9]{8,20}(?:CNTRL)?-[A-Za-z0-9]{20,40}|cf[ua]t_[A-Za-z0-9_-]{40,60}
cloudflare-key      v1.0-                   0    190   3.0  v1\.0-[a-f0-9]{24}-[a-f0-9]{140,150}
vault-token         hvs.,hvb.,hvr.          0    320   3.5  hv[sbr]\.[A-Za-z0-9_-]{24,300}
terraform-token     .atlasv1.               14   90    3.5  [A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}
doppler-token       dp.                     0    90    3.5  dp\.(?:pt|ct|sa|scim|audit|st(?:\.[a-z0-9_-]{2,35})?)\.[A-Za-z0-9]{40,44}
vault-key           ops_eyJ,A3-             0    1200  3.5  ops_eyJ[A-Za-z0-9+/_-]{250,1100}={0,3}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}
azure-secret        0Q~,1Q~,2Q~,3Q~,4Q~,5Q~,6Q~,7Q~,8Q~,9Q~  3    40    3.5  [A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}
azure-secret        AZDO,JQQJ99,AAAAC3A     60   90    3.5  [A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{8,26}|[A-Za-z0-9]{52}AZDO[A-Za-z0-9]{4}|[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}
azure-storage-key   AccountKey=             0    104   4.0  AccountKey=([A-Za-z0-9/+]{86}==)
azure-key           AccessKey=,accesskey=   0    80    3.5  (?i:SharedAccessKey|AccessKey)=([A-Za-z0-9/+]{38,60}=)
azure-sas           sig=                    0    90    3.7  sig=([A-Za-z0-9+/%]{43,90}(?:=|%3[Dd]))
databricks-token    dapi                    0    44    3.0  dapi[a-f0-9]{32}(?:-[0-9])?
cloud-key           LTAI,AKID,AQVN,YCA,YCM,YCN,YCO,YCP,t1.  0    400   3.4  LTAI[A-Za-z0-9]{16,26}|AKID[A-Za-z0-9]{32}|AQVN[A-Za-z0-9_-]{35,38}|YC[A-Za-z0-9_-]{38}|t1\.[A-Za-z0-9_-]{20,300}={0,2}\.[A-Za-z0-9_-]{86}={0,2}
grafana-token       glc_,glsa_,eyJrIjoi     0    420   3.3  glc_[A-Za-z0-9+/]{32,400}={0,3}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|eyJrIjoi[A-Za-z0-9]{70,400}={0,3}
newrelic-key        NRAK-,NRII-,NRJS-,NRRA-  0    50    3.0  NRAK-[A-Z0-9]{27}|NRII-[A-Za-z0-9_-]{32}|NRJS-[a-f0-9]{19}|NRRA-[a-f0-9]{42}
newrelic-key        NRAL                    36   4     3.0  [a-f0-9]{36}NRAL
sentry-token        sntrys_,sntryu_,sntrya_,sntryi_  0    600   3.3  sntry[uai]_[a-f0-9]{64}|sntrys_eyJ[A-Za-z0-9+/]{20,500}={0,2}_[A-Za-z0-9+/]{43}
sentry-dsn          .sentry.io/             100  60    3.0  https://([a-f0-9]{32})(?::[a-f0-9]{32})?@[a-z0-9.]+\.sentry\.io/[0-9]+
monitoring-token    phx_,dt0c01.,dt0s01.,hcaik_,hcxik_,hcalk_,sqp_,squ_,sqa_,sgp_,sgd_,sgs_,pat-na,pat-eu  0    130   3.2  phx_[A-Za-z0-9]{40,50}|dt0[cs]01\.[A-Z0-9a-z]{24}\.[A-Za-z0-9]{64}|hc[axi][a-z]k_[a-z0-9]{58}|sq[pua]_[a-f0-9]{40}|sg[pds]_(?:(?:[a-f0-9]{16}|local)_)?[a-f0-9]{40}|pat-(?:na|eu)[0-9]-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}
linear-token        lin_api_,lin_oauth_     0    80    3.5  lin_(?:api_[A-Za-z0-9]{40}|oauth_[a-f0-9]{64})
notion-token        ntn_,secret_            0    60    3.5  ntn_[0-9]{11}[A-Za-z0-9]{35}|secret_([A-Za-z0-9]{43})
figma-token         figd_,figo_,figu_       0    60    3.5  fig[dou]_[A-Za-z0-9_-]{38,46}
office-token        pat,1/1,2/1,pk_,tfp_,dG9r,CFPAT-,PMAK-,rdme_,API-,fio-u-  0    120   3.3  pat[A-Za-z0-9]{14}\.[a-f0-9]{64}|[12]/[0-9]{15,17}(?:/[0-9]{15,17})?:[a-f0-9]{32}|pk_[0-9]{6,9}_[A-Z0-9]{32}|tfp_[A-Za-z0-9._=-]{40,60}|dG9r[A-Za-z0-9+/]{48,60}=|CFPAT-[A-Za-z0-9_-]{43}|PMAK-[a-f0-9]{24}-[a-f0-9]{34}|rdme_[a-z0-9]{70}|API-[A-Z0-9]{26,32}|fio-u-[A-Za-z0-9_=-]{64}
service-token       sdk-,ico-,4b1d,dnkey-,sm_aat_,sm_pat_,sm_sat_,p8e-,secret-live-,secret-test-  0    100   3.0  sdk-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}|ico-[A-Za-z0-9]{32}|4b1d[A-Za-z0-9]{38}|dnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}|sm_(?:aat|pat|sat)_[A-Za-z0-9]{16}|p8e-[a-z0-9]{32}|secret-(?:live|test)-([A-Za-z0-9_=-]{36})
service-token       _mmk                    36   4     3.5  [A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk
facebook-token      EAA                     0    320   3.7  EAA[A-Za-z0-9]{100,300}
wallet-key          nsec1,xprv              0    120   3.5  nsec1[02-9ac-hj-np-z]{58}|xprv[1-9A-HJ-NP-Za-km-z]{107,108}
openshift-token     sha256~                 0    54    3.5  sha256~[A-Za-z0-9_-]{43}
dropbox-token       sl.                     0    1400  3.8  sl\.(?:u\.)?[A-Za-z0-9_=-]{130,1300}
okta-token          SSWS                    0    60    3.5  SSWS (00[A-Za-z0-9_-]{40})
mapbox-token        .eyJ                    2    160   3.5  sk\.eyJ[A-Za-z0-9_-]{40,90}\.[A-Za-z0-9_-]{22}
salesforce-token    00D                     0    140   3.7  00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{80,120}
harness-token       pat.,sat.               0    90    3.3  [ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}
infisical-token     st.                     0    120   3.3  st\.[a-f0-9]{24}\.[a-f0-9]{32,64}\.[a-f0-9]{32}
jwt                 eyJ                     0    4096  3.5  eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}
jwt                 eyJhbGci,eyJlbmMi       0    4096  3.5  eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{16,}
authorization       uthorization,UTHORIZATION  1    4096  3.2  (?i:authorization)[\\"']{0,8}[ \t]{0,3}[:=,][ \t]{0,3}[\\"'`]{0,8}(?i:bearer|basic|token|apikey|bot|ssws|key) +([A-Za-z0-9._~+/=-]{16,})
discord-token       Bot                     0    110   3.7  Bot ([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38})
"#;
