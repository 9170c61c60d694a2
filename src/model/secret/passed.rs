//! Everyday ways to pass a password: on a command line, in a variable, a header, a URL, a form, a file of settings, a sentence.
//!
//! No password stands here: `{V}` is one made anew from a seed, `{L}` a longer one, `{X}` one of 40, `{S}` one with a sign,
//! `{M}` one that people remember.

use super::*;

/// The commonest.
const COMMON: &str = r#"
PGPASSWORD={V} pg_dump shop
MYSQL_PWD={V} mysqldump shop
REDISCLI_AUTH={V} redis-cli ping
SSHPASS={V} rsync -a . host:
sshpass -p '{V}' scp a host:
mysql -h db -u root -p{V} shop
mysql -u root --password={V}
docker login -u mara -p {V} registry.acme.io
echo {V} | docker login -u mara --password-stdin
curl -H 'X-Auth-Token: {V}' https://api.acme.io
curl 'https://api.acme.io/v1?api_key={V}'
curl 'https://api.acme.io/v1?access_token={V}'
redis-cli -h cache -a {V} ping
mongosh -u root -p {V} --host db
htpasswd -bc users mara {V}
openssl enc -aes-256-cbc -pbkdf2 -k {V} -in a -out b
openssl pkcs12 -export -passout pass:{V} -in a
openssl rsa -in key.pem -passin pass:'{V}'
ansible-vault encrypt --vault-password {V}
export DB_PASS={V}
export ADMIN_PW={V}
DATABASE_PASSWORD: {V}
password: {V}
passwd = '{V}'
set -gx NPM_TOKEN {L}
machine acme.io login mara password {V}
aws configure set aws_secret_access_key {X}
gh auth login --with-token <<< {L}
vault login {L}
kubectl create secret generic s --from-literal=pw={V}
helm upgrade x . --set auth.password={V}
net use z: \\srv\share /user:mara {V}
$Env:API_KEY='{L}'
setx API_KEY "{L}"
ENV JWT_SECRET {L}
Cookie: session={L}
PASS={V}
pw={V}
pwd={V};
Server=db;User Id=sa;Password={V};
curl -d '{"user":"mara","password":"{V}"}' https://acme.io/login
'pass': '{V}'
my password is {V}
The root password: {V}
Passwort: {V}
contraseña: {V}
密码：{V}
密码是 {V}
postgres://shop:{V}@db/shop
keytool -genkey -storepass {V} -alias a
curl -u mara:{V} https://api.acme.io
docker run --env MYSQL_ROOT_PASSWORD="{V}" mysql
"#;

/// Others.
const OTHERS: &str = r#"
sshpass -p{V} ssh host
mysqladmin -uroot -p'{V}' status
mariadb -u root -p{V} -e 'select 1'
podman login --username mara --password {V} quay.io
printf '%s' '{V}' | docker login -u mara --password-stdin
helm registry login acme.io -u mara -p {V}
oc login https://api.acme.io:6443 -u mara -p {V}
az login -u mara@acme.io -p {V}
redis-cli -h cache -a '{V}' --no-auth-warning ping
mongodump --host db -u root -p {V}
htpasswd -nb mara {V}
htpasswd -B -b users mara '{V}'
keytool -list -keystore a.jks -keypass {V}
zip -P {V} out.zip a b
unzip -P {V} out.zip
7z x -p{V} out.7z
gpg --batch --passphrase {V} -d a.gpg
ldapsearch -x -D cn=admin -w {V} -b dc=acme
curl --proxy-user mara:{V} https://api.acme.io
curl -H "X-Vault-Token: s.{V}" https://vault
curl -H 'PRIVATE-TOKEN: {V}' https://git.acme.io
curl -H 'Api-Key: {V}' https://api.acme.io
curl 'https://api.acme.io/v1?q=tea&apikey={V}&n=2'
curl 'https://api.acme.io/v1?token={V}'
curl 'https://maps.acme.io/v1?key={L}'
curl -b 'session={L}' https://acme.io
curl --cookie "sid={L}" https://acme.io
Set-Cookie: sid={L}; Path=/; HttpOnly
curl -d 'user=mara&password={V}' https://acme.io/login
curl -d 'password={V}&user=mara' https://acme.io/login
wget --user=mara --password={V} https://acme.io/a
wget --http-password={V} https://acme.io/a
http -a mara:{V} https://acme.io
export SMTP_PASS='{V}'
pass = "{V}"
pw: "{V}"
ENV API_TOKEN={V}
ARG DB_PASSWORD={V}
docker run -e POSTGRES_PASSWORD={V} postgres
docker build --build-arg NPM_TOKEN={V} .
setx DB_PASSWORD {V}
set -x API_SECRET {L}
setenv DB_PASSWORD {V}
$env:DB_PASSWORD = "{V}"
aws configure set aws_session_token {L}
npm config set //registry.acme.io/:_authToken {L}
pip config set global.password {V}
poetry config http-basic.acme mara {V}
pulumi config set --secret dbPassword {V}
heroku config:set DB_PASSWORD={V}
echo {L} | gh auth login --with-token
gh secret set DEPLOY --body {L}
cargo login {L}
vault kv put secret/shop password={V}
kubectl create secret generic s --from-literal=db={V}
kubectl create secret docker-registry r --docker-password={V}
helm upgrade x . --set postgresql.auth.postgresPassword={V}
net use z: \\srv\share {V} /user:mara
net user mara {V} /add
cmdkey /add:srv /user:mara /pass:{V}
ConvertTo-SecureString '{V}' -AsPlainText -Force
sqlcmd -S db -U sa -P {V} -Q 'select 1'
sqlplus shop/{V}@db
Server=db;Uid=sa;Pwd={V};
jdbc:mysql://db/shop?user=mara&password={V}
dsn := "shop:{V}@tcp(db:3306)/shop"
db:5432:shop:mara:{V}
CREATE USER mara IDENTIFIED BY '{V}';
ALTER USER mara WITH PASSWORD '{V}';
ALTER LOGIN sa WITH PASSWORD = '{V}';
requirepass {V}
echo '{V}' | sudo -S apt install x
echo 'mara:{V}' | chpasswd
ssh-keygen -t ed25519 -N '{V}' -f key
ansible_become_pass={V}
ansible-playbook -e ansible_password={V} a.yml
smbclient //srv/share -U mara%{V}
mount -t cifs //srv/a /mnt -o username=mara,password={V}
nmcli device wifi connect Shop password {V}
    psk="{V}"
<password>{V}</password>
spring.datasource.password={V}
password: {S}
"pass": "{V}"
"userPassword": "{V}"
secretKey: '{L}'
twine upload -u mara -p {V} dist/*
mosquitto_pub -u mara -P {V} -t a
ipmitool -H bmc -U admin -P {V} power status
svn co --username mara --password {V} https://svn
xfreerdp /v:srv /u:mara /p:{V}
the password for the shop is {V}
Use the password {V} for it
Username: mara Password: {V}
Das Passwort ist {V}
Kennwort: {V}
la contraseña es {V}
mot de passe : {V}
le mot de passe est {V}
senha: {V}
wachtwoord: {V}
hasło: {V}
пароль: {V}
şifre: {V}
lösenord: {V}
密码是{V}。
パスワード：{V}
パスワードは{V}です
비밀번호: {V}
mật khẩu: {V}
"#;

/// By a user beside it, by what a function or a subcommand is called, in a sentence.
const FURTHER: &str = r#"
influx user create -n mara -p {V}
cqlsh -u mara -p '{V}' db
ncftpput -u mara -p {V} host / a.txt
evil-winrm -i host -u mara -p '{V}'
redis-cli --pass {V} ping
useradd -m -p '{V}' mara
security add-generic-password -a mara -s shop -w {V}
security unlock-keychain -p {V} login.keychain
bcp shop.dbo.t out t.csv -U sa -P {V} -S db
sqlplus mara/"{V}"@//db:1521/shop
skopeo copy --src-creds mara:{V} docker://a docker://b
consul-template --vault-auth mara:{V}
lftp -u mara,{V} sftp://host
rclone obscure {V}
rabbitmqctl add_user mara {V}
rabbitmqctl change_password mara {V}
openssl passwd -6 {V}
wpa_passphrase Shop {V}
qpdf --encrypt {V} owner 256 -- a.pdf b.pdf
signtool sign /f cert.pfx /p {V} a.exe
nmcli con add type wifi ssid Shop wifi-sec.psk {V}
net use \srv\share "{V}" /user:mara
read -r TOKEN <<< {L}
secret-tool store --label=x <<< '{V}'
printf '{V}\n{V}\n' | passwd mara
ssh-keygen -p -P {V} -N '' -f key
nomad job run -token {L} shop.nomad
psexec -password {V} cmd
xh -a mara:{V} get https://acme.io
curl -H 'x-functions-key: {L}' https://acme.io
curl 'https://acme.io/f?sig={X}&se=2027'
[Environment]::SetEnvironmentVariable('API_KEY', '{L}', 'User')
setenv("DB_PASSWORD", "{V}", 1)
builder.setPassword("{V}")
client.withApiKey('{L}')
password for mara is "{V}"
The password of the till, as agreed, is {V}.
The new password has to be: {V}
Use {V} as the password.
Set the root password to `{V}`.
Das Kennwort lautet {V}
La clave es {V}
Le mot de passe : « {V} »
パスワードは「{V}」です
密码：「{V}」
login: mara / {V}
Credentials are mara / {V}
plink -ssh mara@host -pw {V}
pscp -pw '{V}' a.txt mara@host:
unrar x -p{V} a.rar
isql shop mara {V} -b
neo4j-admin dbms set-initial-password {V}
samba-tool user create mara {V}
kinit mara <<< {V}
echo {V} | kinit mara
echo -n '{V}' | cryptsetup luksFormat /dev/sdb -
net rpc join -U 'admin%{V}'
curl --oauth2-bearer {L} https://acme.io
az keyvault secret set --vault-name v --name n --value {V}
ansible-vault encrypt_string '{V}' --name db_password
requests.get(url, auth=("mara", "{V}"))
smtp.login("mara@acme.io", "{V}")
new Sequelize('shop', 'mara', '{V}', {dialect: 'mysql'})
User mara, password {V}.
Try mara with password {V} please.
pw for the router: {V}
Here is the api key: {L}
My token is {L}
the secret is {L}
**Password:** {V}
Send it as bearer {L}
"#;

/// Written after the rules, to see what they miss. A line feed is written `\n`.
const LATER: &str = r#"
app.datasource.hikari.password={V}
mail:\\n  smtp:\\n    auth: true\\n    user: bot\\n    password: {V}
DB_URI=mysql+pymysql://shop:{V}@db.corp:3306/shop
    <password><![CDATA[{V}]]></password>
<data name="Password"><value>{V}</value></data>
"smtp": {"auth": {"user": "bot@acme.io", "pass": "{V}"}}
{"type":"service","credentials":{"clientSecret":"{L}"}}
registry:\\n  password:\\n    value: {V}
MASTER_PASSWORD: !vault-plain "{V}"
  - export KEYSTORE_PASSWORD={L}
ENV REDIS_PASSWORD={V}
secrets:\\n  grafana_admin: {V}
admin_password="{V}" # change later
jdbc:postgresql://db/shop?user=app&password={V}&ssl=true
Server=tcp:x.database.windows.net;User ID=app;Password={V};Encrypt=True
SharedAccessKeyName=Root;SharedAccessKey={L}
basicauth = mara:{V}
htpasswd line: mara:{V}
machine api.acme.io\\n\\tlogin mara\\n\\tpassword {V}
ldap_bind_password: '{V}'
ppp: user "mara" password "{V}"
set protocols bgp group x authentication-key "{L}"
radius-server key {L}
crypto isakmp key {L} address 10.0.0.1
export ANSIBLE_BECOME_PASSWORD='{V}'
MYSQL_PWD={V} mysql -u root shop
mysqladmin -u root password '{V}'
mosquitto_pub -h b -u mara -P {V} -t x -m y
influx -username admin -password {V}
docker login ghcr.io -u mara -p {V}
podman run -e PG_PASS={V} img
curl -u admin:{V} -X PUT http://es:9200/x
curl -b "token={L}" https://a
wget --http-user=mara --http-password={V} https://a
scp -o "ProxyCommand sshpass -p {V} ssh j" a b
unzip -P {V} data.zip
gpg --passphrase={V} -d a.gpg
openssl pkcs12 -in a.p12 -passin pass:{V}
keytool -importkeystore -deststorepass {L} -alias a
psql "postgresql://app:{V}@db/shop"
npm set //r.corp/:_password={V}
setx DB_PASSWORD "{V}"
$secure = ConvertTo-SecureString "{V}" -AsPlainText -Force
heroku config:set MAIL_PASSWORD={V} --app x
echo "{V}" | sudo -S reboot
vault write auth/userpass/users/mara password={V}
engine = create_engine("postgresql://app:{V}@db/shop")
const token = jwt.sign(p, '{L}');
mongoose.connect('mongodb://app:{V}@m/shop')
$this->password = '{V}';
properties.setProperty("mail.password", "{V}");
new NetworkCredential("mara", "{V}")
cfg.Password = "{V}"
Password: "{V}",
opt.password = `{V}`
password="{V}", user="mara"
auth: { user: 'mara', pass: '{V}' }
BasicAuth("mara", "{V}")
os.Setenv("API_TOKEN", "{L}")
System.setProperty("db.password", "{V}");
assert login("mara", "{V}")
CREATE ROLE app LOGIN PASSWORD '{V}';
CREATE USER app IDENTIFIED WITH mysql_native_password BY '{V}';
ALTER USER sa WITH PASSWORD = '{V}'
INSERT INTO users(login,pwd) VALUES('mara','{V}')
.env("DB_PASSWORD", "{V}")
Password for 'https://mara@git.acme.io': {V}
Enter PEM pass phrase: {V}
Master Password: {V}
[postgres] initdb: superuser password set to "{V}"
minikube: dashboard token: {L}
Your temporary password is: {V}
POST /api/login {"user":"mara","password":"{V}"} 200
GET /feed?auth_token={L}&v=2
audit user=mara pass={V} ok
Cookie: sid={L}; csrftoken=a
PASS {V}
login: mara\\nPassword: {V}\\n$
| API-Key | {L} |
key,value\\nADMIN_PASSWORD,{L}
The root password for that VM is {V} btw
you can ssh in as deploy, the password's {V}
pass is {V}
our staging creds are admin:{V}
New API token for CI: {L}
please set the password to "{V}" for now
Das Root-Passwort lautet jetzt {V}
Logge dich mit admin und dem Passwort {V} ein
J'ai mis le mot de passe à {V}
Le nouveau mot de passe du wifi : {V}
La contraseña nueva es {V} (no la compartas)
usuario admin, contraseña {V}
A senha é {V}
la password per il server di test è {V}
новый пароль: {V}
пароль от роутера {V}
登录密码为 {V}
パスワードが {V} に変わりました
"#;

/// Where nothing but a password stands, one that people remember is known.
const REMEMBERED: &str = r#"
docker login -u mara -p {M} registry.acme.io
docker login --username mara --password={M}
mysqldump --user=root --password='{M}' shop
PGPASSWORD={M} psql -h db
export SSHPASS={M}; sshpass -e ssh host
sqlcmd -S db -U sa -P {M} -Q 'select 1'
smbclient //srv/share -U mara%{M}
mount -t cifs //srv/a /mnt -o username=mara,password={M}
openssl enc -aes-256-cbc -k {M} -in a -out b
openssl req -new -passout pass:{M}
ldapmodify -H ldap://d -D "cn=admin" -w '{M}' -f a.ldif
redis-cli AUTH {M}
chpasswd <<< "mara:{M}"
kinit mara <<< '{M}'
cryptsetup open /dev/sdb x <<< "{M}"
echo {M} | docker secret create db -
gcloud secrets versions add x --data-file=<(printf {M})
rsync --password-file=<(echo {M}) a rsync://host/b
restic --password-command "echo {M}" backup /
impacket-psexec 'corp/mara:{M}@10.0.0.5'
mysqlsh --uri mara:{M}@db:3306
impdp system/{M} directory=d
bundle config gems.acme.io mara:{M}
schtasks /create /ru mara /rp {M} /tn b
db.password={M}
spring.datasource.password: {M}
"password": "{M}"
{'login': 'mara', 'passwd': '{M}'}
  - MYSQL_PASSWORD={M}
<add key="SmtpPassword" value="{M}" />
ldap_default_authtok = {M}
GRANT ALL ON a.* TO 'b'@'%' IDENTIFIED BY "{M}";
bcrypt.hashSync("{M}", 10)
log in with mara / {M}
The credentials are mara / {M}
It is admin / {M} on the router
The wifi key is {M}
the root password is {M}, keep it
try {M} as the password
Bitte nimm {M} als Passwort
Les identifiants sont mara / {M}
le mot de passe est {M}
пароль: {M}
пароль от базы {M}, не теряй
数据库密码改成了 {M}
şifre olarak {M} kullan
비번은 {M} 이야
"#;

/// Takes its turn among letters, so that each password is another.
struct Passwords(usize);

impl Passwords {
    fn of(&mut self, letters: &str, size: usize) -> String {
        let letters = letters.as_bytes();
        let next = |turn: &mut usize| {
            *turn = (*turn * 1_103 + 12_345) % 65_521;
            char::from(letters[*turn % letters.len()])
        };
        (0..size).map(|_| next(&mut self.0)).collect()
    }

    /// A word between letters and digits, as people choose it.
    fn chosen(&mut self) -> String {
        let (small, great, digits) = (
            "abdefghkmnpqrstuvwxyz",
            "ABDEFGHKLMNPQRSTUVWXYZ",
            "23456789",
        );
        [
            self.of(small, 1),
            self.of(great, 1),
            self.of(digits, 1),
            ["wombat", "teapot", "lantern"][self.0 % 3].to_owned(),
            self.of(digits, 1),
            self.of(great, 1),
            self.of(small, 1),
            self.of(great, 1),
        ]
        .concat()
    }

    /// As people do who want to remember it, and are told what else it must have.
    fn remembered(&mut self) -> String {
        let number = self.of("23456789", 4);
        let word = ["wombat", "teapot", "lantern"][self.0 % 3];
        let capital = word[..1].to_uppercase() + &word[1..];
        match self.of("0123", 1).as_str() {
            "0" => format!("{capital}{number}!"),
            "1" => format!("{word}_{number}"),
            "2" => format!("{capital}-{}-{word}", &number[..2]),
            _ => format!("{word}{capital}{}", &number[..2]),
        }
    }

    /// A form with its password, and that.
    fn filled(&mut self, form: &str) -> (String, String) {
        let chosen = self.chosen();
        let (mark, secret) = [
            ("{V}", chosen.clone()),
            ("{L}", self.chosen() + &self.chosen()),
            (
                "{X}",
                (chosen.clone() + &self.chosen() + &self.chosen() + &self.chosen())[..40]
                    .to_owned(),
            ),
            ("{S}", chosen.clone() + "!7"),
            ("{M}", self.remembered()),
        ]
        .into_iter()
        .find(|(mark, _)| form.contains(mark))
        .expect("a password");
        (form.replace(mark, &secret), secret)
    }
}

fn forms(table: &'static str) -> Vec<&'static str> {
    table.lines().filter(|line| !line.is_empty()).collect()
}

fn unfolded(forms: &[&str]) -> Vec<String> {
    let unfold = |form: &&str| form.replace("\\n", "\n").replace("\\t", "\t");
    forms.iter().map(unfold).collect()
}

/// Those of which something is left: as text, quoted in a record, quoted in that, and said by three messages of one line.
fn missed(forms: &[&str]) -> Vec<String> {
    let secrets = Secrets::new();
    let mut missed = Vec::new();
    for seed in [1, 77, 4_242] {
        let mut made = Passwords(seed);
        let mut left = Vec::new();
        for form in forms {
            let (text, secret) = made.filled(form);
            let once = serde_json::json!({"content": format!("So:\n{text}\nThanks!")}).to_string();
            let twice = serde_json::json!({ "arguments": once }).to_string();
            let say = |role| serde_json::json!({"content": text, "role": role});
            let messages = ["user", "assistant", "user"].map(say);
            let listed = serde_json::json!({ "messages": messages }).to_string();
            let is_left = |text: &String| {
                let out = secrets.redact_text(text, &mut SecretCounts::new());
                let is_json = |out: &String| {
                    !text.starts_with("{\"")
                        || serde_json::from_str::<serde_json::Value>(out).is_ok()
                };
                out.is_none_or(|out| out.contains(&secret[secret.len() / 2..]) || !is_json(&out))
            };
            if [&text, &once, &twice, &listed].into_iter().any(is_left) {
                left.push(text);
            }
        }
        if left.len() > missed.len() {
            missed = left;
        }
    }
    missed
}

#[test]
fn of_52_everyday_ways_to_pass_a_password_50_are_found() {
    let forms = forms(COMMON);
    assert_eq!(forms.len(), 52);
    let missed = missed(&forms);
    assert!(missed.len() <= 2, "{missed:#?}");
}

#[test]
fn of_further_ways_made_anew_95_of_100_are_found() {
    let forms = forms(OTHERS);
    assert!(forms.len() >= 105, "{}", forms.len());
    let missed = missed(&forms);
    assert!(missed.len() * 20 <= forms.len(), "{missed:#?}");
}

#[test]
fn a_password_is_known_by_a_user_beside_it_a_function_or_a_sentence() {
    let forms = forms(FURTHER);
    let missed = missed(&forms);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn of_what_was_written_after_the_rules_95_of_100_are_found() {
    let forms = unfolded(&forms(LATER));
    let forms: Vec<&str> = forms.iter().map(String::as_str).collect();
    assert!(forms.len() >= 95, "{}", forms.len());
    let missed = missed(&forms);
    assert!(missed.len() * 20 <= forms.len(), "{missed:#?}");
}

#[test]
fn of_what_people_remember_95_of_100_are_found() {
    let forms = forms(REMEMBERED);
    assert!(forms.len() >= 45, "{}", forms.len());
    let missed = missed(&forms);
    assert!(missed.len() * 20 <= forms.len(), "{missed:#?}");
}

#[test]
fn a_sentence_is_read_in_letters_that_json_spells_as_numbers() {
    let secrets = Secrets::new();
    let text = r#"{"text":"\u5bc6\u7801\uff1a\u300cRm62duzv2Wtc\u300d"}"#;
    let out = secrets.redact_text(text, &mut SecretCounts::new());
    let out = out.expect("it holds a password");
    assert_eq!(
        out,
        r#"{"text":"\u5bc6\u7801\uff1a\u300c[redacted:password]\u300d"}"#
    );
    let twice = serde_json::json!({ "arguments": text }).to_string();
    let out = secrets.redact_text(&twice, &mut SecretCounts::new());
    assert!(!out.expect("it holds a password").contains("duzv"));
}

#[test]
fn a_line_of_a_secret_is_known_by_the_whole() {
    let secrets = Secrets::new();
    let whole = "So:\nprintf 'dZ7wombat4GkR\ndZ7wombat4GkR' | passwd mara\nThanks!";
    let piece = secrets.redact_piece(whole, "dZ7wombat4GkR' | passwd mara");
    assert_eq!(piece.as_deref(), Some("[redacted:password]' | passwd mara"));
    assert_eq!(secrets.redact_piece(whole, "Thanks!"), None);
}

#[test]
fn what_only_looks_like_a_password_that_is_passed_is_none() {
    let secrets = Secrets::new();
    for text in [
        "docker run -p 8080:80 -e MODE=dev1 app",
        "mysql -u root -p shop_2026 < dump.sql",
        "mysql -uroot -p$MYSQL_PWD shop",
        "redis-cli -a \"$REDIS_PASSWORD\" ping",
        "htpasswd -c users mara",
        "openssl enc -k \"$KEY\" -in a",
        "tests pass: 128, fail: 0",
        "pass=12 fail=3",
        "the password is stored as SHA256 of 32 bytes",
        "password: String, token: Tls12CipherSuite",
        "password is required",
        "The password is hashed: PBKDF2WithHmacSHA256",
        "password for the user is in Vault2ClientConfig.java",
        "the passwords are checked by isValid2FaCode()",
        "ssh -p 2222 -l mara host",
        "docker run -n shop -p 8080:80 app",
        "useradd -m -p \"$HASHED\" mara",
        "cat <<< \"$TOKEN\" | login",
        "t.setToken(\"Tls12CipherSuite\")",
        "login: shop / Q3 report",
        "pwd=/home/me/Projects2/Shop3",
        "ENV TOKEN_PATH /run/secrets/token",
        "get(&SERVICE_KEY, \"uddiv3ServiceKey\")",
        "graph/badge.svg?token=Z92NHFQ70G",
        "Set-Cookie: theme=dark; Path=/; HttpOnly",
        "密码是必填项",
        "grep -n 'END PRIVATE KEY' *.pem",
        "-----END PRIVATE KEY-----",
        "here is some text of many words before it\n-----END PRIVATE KEY-----",
        "docker login -u mara --password-stdin < password.txt",
        "password: UInt256, token: Varchar255",
        "the password is in users_2024",
        "the password policy of 2024 was changed in Summer2024",
        "tool -u mara -p project_2024",
        "grep user_1234 <<< \"$LIST\"",
        "diff <(echo release-2024) b.txt",
        "password_field_2024.set(value)",
        "passwords are hashed as in step-12-build.",
        "bcrypt.hash(password, rounds_1024)",
        "admin / settings-page-2",
        "the network key is the primary one",
    ] {
        assert_eq!(secrets.find(text.as_bytes()), [], "{text}");
    }
}

#[test]
fn the_rest_of_a_key_whose_beginning_is_cut_off_is_found() {
    let line = "9H+iMb+lk777PZnK8Cl6J5ixaaJLShuQjOudyDUA5zmS1swoPqApryPZBlgv";
    for (before, margin) in [
        ("", ""),
        ("…\n", ""),
        ("It goes on:\n", "> "),
        ("", "+"),
        ("", "    12\t"),
    ] {
        let key = format!(
            "{margin}{line}\n{margin}{line}\n{margin}-----END {}KEY-----",
            "RSA PRIVATE "
        );
        let text = serde_json::json!({"a": format!("{before}{key}\nand so on")}).to_string();
        let out = Secrets::new().redact_text(&text, &mut SecretCounts::new());
        let out = out.expect("redacted");
        assert!(
            !out.contains(&line[..20]) && out.contains("[redacted:private-key]"),
            "{out}"
        );
        let read: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        let read = read["a"].as_str().expect("a text").to_owned();
        assert!(
            read.starts_with(before) && read.ends_with("\nand so on"),
            "{read}"
        );
    }
}
